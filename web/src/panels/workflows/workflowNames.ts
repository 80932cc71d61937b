/** The names of workflows: what a new one is called, and what a person calls it. */
import { t } from '@/browser/i18n'
import { openPrompt } from '@/kit/promptDialog'

const NAME = 'my-workflow'
/** Whether a name is one that we have given, and nobody has thought of. */
const isDefaultName = (name: string): boolean => /^my-workflow(-\d+)?$/.test(name)
/** A name that no workflow has yet. */
export function chooseFreeName(taken: { name: string }[]): string {
  const names = new Set(taken.map((one) => one.name))
  let name = NAME
  for (let number = 2; names.has(name); number++) name = `${NAME}-${number}`
  return name
}
/** The name to save a workflow under, which was opened as `own`: one that a person has chosen, and that no other workflow has. */
export async function askForName(written: string, own: string, list: { name: string }[]): Promise<string | null> {
  const isTaken = (name: string) => name !== own && list.some((one) => one.name === name)
  if (written === own || !(isTaken(written) || isDefaultName(written))) return written
  const wrong = (given: string) => (isTaken(given.trim()) ? t('workflows.nameTaken', { name: given.trim() }) : '')
  const asked = { title: t('workflows.nameIt'), text: t('workflows.nameItText'), yes: t('workflows.save'), wrong }
  return (await openPrompt({ ...asked, value: isTaken(written) ? '' : written }))?.trim() || null
}
