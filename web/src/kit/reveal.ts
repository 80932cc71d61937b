/** Signs that cannot be seen, or turn the text around them, made visible: nobody is to approve what they did not read. */
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/gu

export const hasHidden = (text: string): boolean => text.search(HIDDEN) >= 0

export const reveal = (text: string): string =>
  text.replace(HIDDEN, (sign) => `⟦U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟧`)
