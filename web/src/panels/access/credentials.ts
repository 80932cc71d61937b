/** What a credential is called, and whether it can still be used. */
import type { Credential } from '@/api/rows'
import { now } from '@/stores/clock'
import { t } from '@/browser/i18n'

export const isUsable = (one: Credential): boolean => !one.revoked_at && (!one.expires_at || one.expires_at > now.value)

/** A login is known by its device, the owner's token by where it is kept, every other credential by its name. */
export function formatCredentialName(one: Credential): string {
  if (one.browser) return one.device || t('access.unknownDevice')
  return one.person_id === 'owner' ? t('access.ownToken') : one.name
}
