/** Signs that cannot be seen, or turn the text around them, made visible: nobody is to approve what they did not read. */
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/gu

export const hasHidden = (text: string): boolean => text.search(HIDDEN) >= 0

const named = (sign: string): string => `⟦U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟧`
const SPACES = /[\t\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/gu

export const reveal = (text: string): string => text.replace(HIDDEN, named)

/** The same for what a shell will read, to which a space is one sign only: all others are written out too. */
export const revealSpaces = (text: string): string => reveal(text).replace(SPACES, named)

const MOST = 100_000

/** To its end: what is approved must have been there to see. Beyond all measure it says how much is missing. */
export const whole = (text: string): string =>
  text.length <= MOST ? text : `${text.slice(0, MOST)} … (+${text.length - MOST})`
