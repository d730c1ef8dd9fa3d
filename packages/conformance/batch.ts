import assert from 'node:assert/strict'
import * as kinds from './kinds.ts'
import { bodyOf, expectAnswer } from './stage.ts'
import type { Case } from './statement.ts'
import { batchOf, ended, startTask } from './tasks.ts'
import { namesIn } from './transfer.ts'

const operations = ['copy', 'move'] as const
const BODY = '`{src_repo_id, src_parent_dir, src_dirents, dst_repo_id, dst_parent_dir}`'

/** The endpoints of section 4.3. */
export const batchStatements: Case[] = [
  ...operations.map(
    (operation): Case => ({
      id: `4.3/sync-${operation}`,
      statement: `\`POST /api/v2.1/repos/sync-batch-${operation}-item/\` with the JSON ${BODY} returns \`{success: 'true'}\`, a string`,
      note: 'Newer releases of the reference send a boolean.',
      async run(stage) {
        const [from, to] = [
          await stage.library({ '/a.txt': 'a', '/b/c.txt': 'c' }),
          await stage.library({ '/d/x': 'x' }),
        ]
        const json = batchOf(from, ['a.txt', 'b'], to, '/d')
        expectAnswer(await stage.user.post(`/api/v2.1/repos/sync-batch-${operation}-item/`, { json }), {
          success: 'true',
        })
        assert.deepEqual(await namesIn(stage.user, to, '/d'), ['a.txt', 'b/', 'x'])
        assert.deepEqual(await namesIn(stage.user, to, '/d/b'), ['c.txt'])
        assert.deepEqual(await namesIn(stage.user, from), operation === 'copy' ? ['a.txt', 'b/'] : [])
      },
    }),
  ),
  {
    id: '4.3/delete',
    statement:
      '`DELETE /api/v2.1/repos/batch-delete-item/` with the JSON `{repo_id, parent_dir, dirents}` returns `{success: true}`, a boolean',
    note: 'Also `commit_id`, as in the reference: the commit to restore from.',
    async run(stage) {
      const repo_id = await stage.library({ '/a.txt': 'a', '/b/c.txt': 'c', '/d.txt': 'd' })
      const json = { repo_id, parent_dir: '/', dirents: ['a.txt', 'b'] }
      const answer = bodyOf(await stage.user.delete('/api/v2.1/repos/batch-delete-item/', { json }))
      assert.equal(answer.success, true)
      if (stage.checksNotes) assert.deepEqual(Object.keys(answer), ['success', 'commit_id'])
      assert.deepEqual(await namesIn(stage.user, repo_id), ['d.txt'])
    },
  },
  ...operations.map(
    (operation): Case => ({
      id: `4.3/async-${operation}`,
      statement: `\`POST /api/v2.1/repos/async-batch-${operation}-item/\` with the same JSON returns \`{task_id}\``,
      async run(stage) {
        const [from, to] = [await stage.library({ '/a.txt': 'a' }), await stage.library()]
        const json = batchOf(from, ['a.txt'], to)
        const answer = bodyOf(
          await stage.user.post(`/api/v2.1/repos/async-batch-${operation}-item/`, { json }),
        )
        assert.deepEqual(Object.keys(answer), ['task_id'])
        assert.ok(kinds.filled.holds(answer.task_id))
        await ended(stage.user, answer.task_id)
        assert.deepEqual(await namesIn(stage.user, to), ['a.txt'])
      },
    }),
  ),
  {
    id: '4.3/progress',
    statement: '`GET /api/v2.1/query-copy-move-progress/` with `task_id` returns the progress of the task',
    note: 'Only to the owner of the task; the reference returns it to anybody.',
    async run(stage) {
      const [from, to] = [await stage.library({ '/a.txt': 'a' }), await stage.library()]
      const task_id = await startTask(stage.user, 'copy', batchOf(from, ['a.txt'], to))
      const progress = bodyOf(await stage.user.get('/api/v2.1/query-copy-move-progress/', { task_id }))
      assert.ok(progress.done <= progress.total)
      await ended(stage.user, task_id)
    },
  },
  {
    id: '4.3/cancel',
    statement: '`DELETE /api/v2.1/copy-move-task/` with the form `task_id` returns `{success: true}`',
    note: 'Nothing of the task is left in the target. One that has ended cannot be canceled: 500, as in the reference.',
    async run(stage) {
      const [from, to] = [await stage.library({ '/a.txt': 'a' }), await stage.library()]
      let task_id: string
      {
        using _held = stage.inside.holdTasks()
        task_id = await startTask(stage.user, 'copy', batchOf(from, ['a.txt'], to))
        const reply = await stage.user.delete('/api/v2.1/copy-move-task/', { form: { task_id } })
        expectAnswer(reply, { success: true })
      }
      const { canceled, successful } = await ended(stage.user, task_id)
      assert.deepEqual([canceled, successful], [true, false])
      assert.deepEqual(await namesIn(stage.user, to), [])
    },
  },
  ...operations.map(
    (operation): Case => ({
      id: `4.3/${operation}-inside`,
      statement: `\`task_id\` is empty when a background ${operation} stays inside one library`,
      note: 'The work is done before the response.',
      async run(stage) {
        const library = await stage.library({ '/a.txt': 'a', '/docs/b.txt': 'b' })
        assert.equal(
          await startTask(stage.user, operation, batchOf(library, ['a.txt'], library, '/docs')),
          '',
        )
        assert.deepEqual(await namesIn(stage.user, library, '/docs'), ['a.txt', 'b.txt'])
      },
    }),
  ),
]
