import type { Recipient, SharePermission } from '../access/shares.ts'
import { DomainError, fail } from '../errors.ts'
import type { Account } from '../identity/account.ts'
import type { AdministeredLibrary } from '../library/library.ts'
import { ROOT } from '../objects/paths.ts'
import type { ApiServices } from './services.ts'

/** Sharing again changes what the share gives. */
export async function shareOrChange(
  { shares }: ApiServices,
  user: Account,
  library: AdministeredLibrary,
  recipient: Recipient,
  permission: SharePermission,
): Promise<void> {
  try {
    await shares.share(library, user, ROOT, recipient, permission)
  } catch (error) {
    if (!(error instanceof DomainError) || error.fault.code !== 'already-shared') throw error
    if (!(await shares.change(library, ROOT, recipient, permission))) fail({ code: 'permission-denied' })
  }
}
