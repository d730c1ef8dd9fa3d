import assert from 'node:assert/strict'
import * as kinds from './kinds.ts'
import { type LinkKind, linkKinds, madeLink } from './links.ts'
import { bodyOf, expectAnswer, type Stage } from './stage.ts'
import type { Case, Statement } from './statement.ts'
import { ended } from './tasks.ts'
import { namesIn } from './transfer.ts'

const operations = ['copy', 'move'] as const
type Operation = (typeof operations)[number]

const left = (operation: Operation, names: readonly string[]) => (operation === 'copy' ? names : [])

async function batch(
  { user }: Stage,
  operation: Operation,
  from: string,
  to: string,
  paths: [string, string][],
) {
  const json = {
    src_repo_id: from,
    dst_repo_id: to,
    paths: paths.map(([src_path, dst_path]) => ({ src_path, dst_path })),
  }
  return bodyOf(await user.post(`/api/v2.1/repos/batch-${operation}-item/`, { json }))
}

const twoLibraries = async (stage: Stage) =>
  [
    await stage.library({ '/a.txt': 'a', '/b/c.txt': 'c' }),
    await stage.library({ '/docs/a.txt': 'x' }),
  ] as const

const batchCases = (operation: Operation): Case[] => [
  {
    id: `4.7/batch-${operation}`,
    statement: `\`POST /api/v2.1/repos/batch-${operation}-item/\` with the JSON \`{src_repo_id, dst_repo_id, paths: [{src_path, dst_path}]}\` returns \`{failed, success}\``,
    async run(stage) {
      const [from, to] = await twoLibraries(stage)
      const answer = await batch(stage, operation, from, to, [['/b', '/docs']])
      assert.deepEqual([Object.keys(answer).toSorted(), answer.failed], [['failed', 'success'], []])
      assert.deepEqual(await namesIn(stage.user, to, '/docs'), ['a.txt', 'b/'])
      assert.deepEqual(await namesIn(stage.user, from), ['a.txt', ...left(operation, ['b/'])])
    },
  },
  {
    id: `4.7/batch-${operation}-success`,
    statement: `An item of \`success\` of a ${operation} has \`src_repo_id\`, \`dst_repo_id\`, \`src_path\`, \`dst_path\`, \`dst_obj_name\``,
    note: 'Paths end with a slash, those of files too, as in the reference.',
    async run(stage) {
      const [from, to] = await twoLibraries(stage)
      const { success } = await batch(stage, operation, from, to, [['/b', '/docs']])
      const item = {
        src_repo_id: from,
        dst_repo_id: to,
        src_path: '/b/',
        dst_path: '/docs/',
        dst_obj_name: 'b',
      }
      assert.deepEqual(success, [item])
    },
  },
  {
    id: `4.7/batch-${operation}-taken`,
    statement: `\`dst_obj_name\` of a ${operation} has \` (n)\` if the name was taken`,
    async run(stage) {
      const [from, to] = await twoLibraries(stage)
      const { success } = await batch(stage, operation, from, to, [['/a.txt', '/docs']])
      assert.equal(success[0].dst_obj_name, 'a (1).txt')
    },
  },
  {
    id: `4.7/batch-${operation}-failed`,
    statement: `An item of \`failed\` of a ${operation} has \`src_repo_id\`, \`dst_repo_id\`, \`src_path\`, \`dst_path\`, \`error_msg\``,
    async run(stage) {
      const [from, to] = await twoLibraries(stage)
      const { failed } = await batch(stage, operation, from, to, [['/b', '/gone']])
      const item = { src_repo_id: from, dst_repo_id: to, src_path: '/b/', dst_path: '/gone/' }
      assert.deepEqual(failed, [{ ...item, error_msg: failed[0]?.error_msg }])
      assert.equal(typeof failed[0]?.error_msg, 'string')
      if (stage.checksNotes) assert.equal(failed[0]?.error_msg, 'Folder /gone/ not found.')
    },
  },
  {
    id: `4.7/batch-${operation}-partial`,
    statement: `A ${operation} may succeed in part: each item is reported separately`,
    async run(stage) {
      const [from, to] = await twoLibraries(stage)
      const paths: [string, string][] = [
        ['/gone', '/docs'],
        ['/b', '/docs'],
        ['/a.txt', '/gone'],
      ]
      const { failed, success } = await batch(stage, operation, from, to, paths)
      assert.deepEqual([failed.length, success.length], [2, 1])
      assert.deepEqual(await namesIn(stage.user, to, '/docs'), ['a.txt', 'b/'])
    },
  },
]

const fileopsCase = (operation: Operation): Case => ({
  id: `4.7/fileops-${operation}`,
  statement: `\`POST /api2/repos/{repo_id}/fileops/${operation}/?p=\` with the form \`dst_repo\`, \`dst_dir\`, \`file_names\` returns an array of \`{repo_id, parent_dir, obj_name}\``,
  async run(stage) {
    const [from, to] = await twoLibraries(stage)
    const form = { dst_repo: to, dst_dir: '/docs', file_names: 'a.txt:b' }
    const reply = await stage.user.post(`/api2/repos/${from}/fileops/${operation}/`, {
      query: { p: '/' },
      form,
    })
    const place = { repo_id: to, parent_dir: '/docs' }
    expectAnswer(reply, [
      { ...place, obj_name: 'a (1).txt' },
      { ...place, obj_name: 'b' },
    ])
    assert.deepEqual(await namesIn(stage.user, to, '/docs'), ['a (1).txt', 'a.txt', 'b/'])
    assert.deepEqual(await namesIn(stage.user, from), left(operation, ['a.txt', 'b/']))
  },
})

const linkCases = (kind: LinkKind): Case[] => [
  {
    id: `4.7/${kind}-links`,
    statement: `\`GET /api2/repos/{repo-id}/${kind}-shared-links/\` returns an array of ${kind} links`,
    async run(stage) {
      const { library, token } = await madeLink(stage, kind)
      const listed = bodyOf(await stage.user.get(`/api2/repos/${library}/${kind}-shared-links/`))
      assert.deepEqual(
        listed.map((link: { token: string }) => link.token),
        [token],
      )
    },
  },
  {
    id: `4.7/${kind}-link-delete`,
    statement: `\`DELETE /api2/repos/{repo-id}/${kind}-shared-links/<token>/\` returns \`{success: true}\``,
    note: 'The heading lists GET, the example DELETE; GET returns 405, as in the reference.',
    async run(stage) {
      const { library, token } = await madeLink(stage, kind)
      const links = `/api2/repos/${library}/${kind}-shared-links/`
      expectAnswer(await stage.user.delete(`${links}${token}/`), { success: true })
      expectAnswer(await stage.user.get(links), [])
    },
  },
]

/** The endpoints of section 4.7. */
export const deprecatedStatements: Statement[] = [
  ...linkKinds.flatMap(linkCases),
  ...operations.flatMap(batchCases),
  ...operations.map(fileopsCase),
  {
    id: '4.7/copy-move-task',
    statement:
      '`POST /api/v2.1/copy-move-task/` with the form `src_repo_id`, `src_parent_dir`, `src_dirent_name`, `dst_repo_id`, `dst_parent_dir`, `operation`, `dirent_type` returns `{task_id}`',
    note: 'Empty inside one library, where the reference returns `{}`.',
    async run(stage) {
      const [from, to] = await twoLibraries(stage)
      const form = {
        src_repo_id: from,
        src_parent_dir: '/',
        src_dirent_name: 'a.txt',
        dst_repo_id: to,
        dst_parent_dir: '/',
        operation: 'copy',
        dirent_type: 'file',
      }
      const answer = bodyOf(await stage.user.post('/api/v2.1/copy-move-task/', { form }))
      assert.deepEqual(Object.keys(answer), ['task_id'])
      assert.ok(kinds.filled.holds(answer.task_id))
      assert.equal((await ended(stage.user, answer.task_id)).successful, true)
      assert.deepEqual(await namesIn(stage.user, to), ['a.txt', 'docs/'])
    },
  },
]
