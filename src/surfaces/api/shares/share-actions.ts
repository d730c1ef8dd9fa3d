import { DomainError, fail } from '../../../base/errors.ts'
import type { AdministeredLibrary } from '../../../libraries/library/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import type { ShareOptions } from '../../../sharing/access/index.ts'
import type { AuditedCall } from '../common/audit.ts'
import type { ShareServices } from './services.ts'

/** Sharing a library again changes the permission of the share. */
export async function shareOrChange(
  { shares }: ShareServices,
  { user, request }: AuditedCall,
  library: AdministeredLibrary,
  options: ShareOptions,
): Promise<void> {
  const by = auditActor(user, request)
  try {
    await shares.share(library, user, options, by)
  } catch (error) {
    if (!(error instanceof DomainError) || error.fault.code !== 'already-shared') throw error
    if (!(await shares.change(library, options, by))) fail({ code: 'permission-denied' })
  }
}
