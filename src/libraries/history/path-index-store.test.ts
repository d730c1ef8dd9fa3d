import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openTestCore } from '../../../test/support/core.ts'
import type { Value } from '../../platform/database/database.ts'
import { deletePathIndexBelow } from './path-index-store.ts'

it('deletes the rows below a commit by a range of an index', async () => {
  await using stage = await openTestCore()
  const plans: string[] = []
  await stage.db.write(async (tx) => {
    const explain = async (sql: string, ...values: Value[]) => {
      const steps = await tx.all<{ detail: string }>(`explain query plan ${sql}`, ...values)
      plans.push(steps.map(({ detail }) => detail).join('\n'))
      return 0
    }
    await deletePathIndexBelow({ ...tx, run: explain }, 1, 5, 10)
  })
  const [trash = '', edits = ''] = plans
  assert.match(trash, /trash_by_seq \(library_key=\? AND present=\? AND seq<\?\)/)
  assert.match(edits, /file_edit_by_seq \(library_key=\? AND seq<\?\)/)
  for (const plan of plans) assert.doesNotMatch(plan, /SCAN (trash_item|file_edit)/)
})
