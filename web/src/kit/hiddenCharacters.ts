/** Signs that cannot be seen, or turn the text around them, made visible: nobody is to approve what they did not read. */
const HIDDEN = new RegExp(
  [
    '[',
    String.raw`\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5`,
    String.raw`\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0`,
    String.raw`\ufff0-\ufffc\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}`,
    ']',
  ].join(''),
  'gu',
)

export const hasHiddenCharacters = (text: string): boolean => text.search(HIDDEN) >= 0

const named = (sign: string): string => `⟦U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟧`
const SPACES = /[\t\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/gu

export const reveal = (text: string): string => text.replace(HIDDEN, named)

/** Letters of other alphabets that look like Latin ones; a word passes for another if it has both, or only such. */
const ALIKE = /[\u0370-\u058f\u13a0-\u13ff\u1f00-\u1fff\u2c60-\u2c7f\ua640-\ua69f\uff01-\uff5e\u{1d400}-\u{1d7ff}]/gu
const TWINS = new RegExp(
  [
    '^[',
    String.raw`\u0430\u0435\u0455\u0456\u0458\u043e\u0440\u0441\u0443\u0445\u04bb\u0501\u051b\u051d\u0475\u0410`,
    String.raw`\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0423\u0405\u0406\u0408\u03bf\u03bd`,
    String.raw`\u03b1\u03b9\u03c5\u03c1\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4`,
    String.raw`\u03a5\u03a7`,
    ']+$',
  ].join(''),
  'u',
)
const unmixed = (word: string): string => (/[A-Za-z]/.test(word) || TWINS.test(word) ? word.replace(ALIKE, named) : word)

/** The same for what a shell will read, to which a space is one sign only: all others are written out too, and so are
 *  letters that pass for others. */
export const revealSpaces = (text: string): string =>
  reveal(text.search(ALIKE) < 0 ? text : text.replace(/\p{L}+/gu, unmixed)).replace(SPACES, named)

const MOST = 100_000

/** To its end: what is approved must have been there to see. Beyond all measure it says how much is missing. */
export const limitLength = (text: string): string => (text.length <= MOST ? text : `${text.slice(0, MOST)} … (+${text.length - MOST})`)
