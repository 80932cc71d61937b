/** Going somewhere, for those who cannot know the router because the router knows them. */
import type { Router } from 'vue-router'

let router: Router | null = null
export const setRouter = (made: Router): void => void (router = made)
export const go = (path: string): void => void router?.push(path)
