import type { Library } from '../../../libraries/library/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { guestOf } from '../../../sharing/quotas/index.ts'
import type { TransferServices } from './services.ts'

/** Rejects requests for an upload link if the owner is out of quota, with the configured status. */
export async function refuseIfFull(
  { quotas, quotaStatus }: TransferServices,
  library: Library,
): Promise<void> {
  const room = await quotas.roomLeft(library.info, guestOf(library))
  if (room !== undefined && room.left <= 0) throw errorMessage(quotaStatus, 'Out of quota.')
}
