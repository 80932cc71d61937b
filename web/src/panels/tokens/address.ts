/** The address by which other devices know this hub; what this browser uses, unless somebody has said better. */
import { kept } from '@/shell/kept'

export const address = kept('address', location.origin)
export const isLocal = (url: string): boolean => /^https?:\/\/(127\.|localhost|\[::1\])/.test(url)
