/** Sample prompts of the hub, in which words in braces stand for values. */

/** A sample prompt with its values filled in. A word without a value stays. */
export const fillPrompt = (prompt: string, values: Record<string, string>): string =>
  prompt.replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place)
