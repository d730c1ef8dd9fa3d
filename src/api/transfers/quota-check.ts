import { guestOf } from '../../access/index.ts'
import { errorMessage } from '../../http/index.ts'
import type { Library } from '../../library/index.ts'
import type { ApiServices } from '../services.ts'

/** Refuses what can only lead to an upload if the owner has no room left, with the status the operator chose. */
export async function refuseIfFull({ quotas, quotaStatus }: ApiServices, library: Library): Promise<void> {
  const room = await quotas.roomLeft(library.info, guestOf(library))
  if (room !== undefined && room.left <= 0) throw errorMessage(quotaStatus, 'Out of quota.')
}
