import { json, kinds } from '../../../base/schemas/index.ts'
import type { TaskProgress } from '../../../maintenance/jobs/index.ts'
import { required } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { progress as progressSchema } from './batch.schema.ts'
import { route } from './services.ts'

export const copyMoveTaskProgressRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/query-copy-move-progress/',
    auth: 'user',
    summary: 'Returns the progress of a copy, move or extraction, until an hour after its end.',
    compatibility: {
      result: 'different',
      note: 'A final record stays readable for an hour. Tasks of other accounts are unknown.',
    },
    query: { task_id: required() },
    responses: () => ({ 200: json(progressSchema, 'The progress.') }),
    async handle({ user, query }, { copyMoveTasks }) {
      const progress = await copyMoveTasks.progressOf(user, query.task_id)
      if (progress === undefined) throw errorMessage(500, 'Error')
      return progressToWire(progress)
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/copy-move-task/',
    auth: 'user',
    summary: 'Cancels a running copy, move or extraction.',
    compatibility: { result: 'different', note: 'A finished task has one final state.' },
    body: { task_id: required() },
    responses: () => ({ 200: json(kinds.successFlag, 'The task was canceled.') }),
    async handle({ user, body }, { copyMoveTasks }) {
      if (!(await copyMoveTasks.cancel(user, body.task_id))) throw errorMessage(500, 'Cancel failed')
      return { success: true }
    },
  }),
]

function progressToWire({ state, done, total, failedReason }: TaskProgress) {
  return {
    done,
    total,
    canceled: state === 'canceled',
    failed: state === 'failed',
    successful: state === 'successful',
    failed_reason: failedReason,
  }
}
