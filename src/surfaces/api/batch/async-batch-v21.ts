import { json } from '../../../base/schemas/index.ts'
import { copy, move } from '../../../libraries/edits/index.ts'
import { Refusal } from '../../../platform/responses/index.ts'
import { BATCH_BODY_BYTES } from '../common/readers.ts'
import { batchParameters, task } from './batch.schema.ts'
import {
  type Batch,
  batchBody,
  batchFaults,
  type MoveBatch,
  openCopyBatch,
  openMoveBatch,
} from './batch-selection.ts'
import { type BatchServices, route } from './services.ts'

export const batchAsyncRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/repos/async-batch-copy-item/',
    auth: 'user',
    summary: 'Copies entries of a folder to another; across libraries as a background task.',
    compatibility: { result: 'different', note: 'A missing name is 404 before anything is copied.' },
    body: batchBody,
    bodyLimit: BATCH_BODY_BYTES,
    faults: batchFaults,
    responses: () => ({ 200: json(task, 'The task.') }),
    details: () => ({ errors: [409, 443], parameters: batchParameters }),
    async handle({ user, body }, services) {
      const batch = await openCopyBatch(services, user, body)
      await refuseUndecrypted(services, batch)
      return { task_id: await startCopy(services, batch) }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/repos/async-batch-move-item/',
    auth: 'user',
    summary: 'Moves entries of a folder to another; across libraries as a background task.',
    compatibility: { result: 'different', note: 'A missing name is 404 before anything is moved.' },
    body: batchBody,
    bodyLimit: BATCH_BODY_BYTES,
    faults: batchFaults,
    responses: () => ({ 200: json(task, 'The task.') }),
    details: () => ({ errors: [409, 443], parameters: batchParameters }),
    async handle({ user, body }, services) {
      const batch = await openMoveBatch(services, user, body)
      await refuseUndecrypted(services, batch)
      return { task_id: await startMove(services, batch) }
    },
  }),
]

/** The id of the task; empty within one library, where the copy is already done. */
export async function startCopy(services: BatchServices, batch: Batch): Promise<string> {
  const { source, selection, target, folder } = batch
  if (source.info.key !== target.info.key) {
    return services.copyMoveTasks.start('copy', source, selection, target, folder)
  }
  const roomLeft = services.quotas.roomLeft.bind(services.quotas)
  await copy(services.core, source, selection, target, folder, roomLeft)
  return ''
}

/** As startCopy. */
export async function startMove(services: BatchServices, batch: MoveBatch): Promise<string> {
  const { source, selection, target, folder } = batch
  if (source.info.key !== target.info.key) {
    return services.copyMoveTasks.start('move', source, selection, target, folder)
  }
  const roomLeft = services.quotas.roomLeft.bind(services.quotas)
  await move(services.core, source, selection, target, folder, roomLeft)
  return ''
}

// Only for the target library: clients then ask for its password.
async function refuseUndecrypted({ core }: BatchServices, { target }: Batch): Promise<void> {
  if (!(await core.keys.isOpen(target))) throw new Refusal(403, { lib_need_decrypt: true })
}
