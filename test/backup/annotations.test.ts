import assert from 'node:assert/strict'
import path from 'node:path'
import { it } from 'node:test'
import type { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { onBothDatabases } from '../support/databases.ts'
import { createEncrypted } from '../support/encrypted.ts'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { flagsOf, temporaryFolder } from './support.ts'

async function comment(by: Client, library: string, p: string, text: string): Promise<void> {
  const reply = await by.post(`/api2/repos/${library}/file/comments/`, {
    query: { p },
    form: { comment: text },
  })
  assert.equal(reply.status, 201, reply.text)
}

async function tag(by: Client, library: string, file_path: string, name: string): Promise<void> {
  const tags = `/api/v2.1/repos/${library}/repo-tags/`
  const made = await by.post(tags, { form: { name, color: '#ff8000' } })
  assert.equal(made.status, 201, made.text)
  const { repo_tag_id } = made.body.repo_tag
  const put = await by.post(`/api/v2.1/repos/${library}/file-tags/`, { form: { file_path, repo_tag_id } })
  assert.equal(put.status, 201, put.text)
}

/** The comments with their authors, and the tags of a file. */
async function annotationsOf(by: Client, library: string, at: string): Promise<string[]> {
  const { body } = await by.get(`/api2/repos/${library}/file/comments/`, { p: at })
  const tags = await by.get(`/api/v2.1/repos/${library}/file-tags/`, { file_path: at })
  return [
    ...body.comments.map((one: Record<string, string>) => `${one['user_email']}: ${one['comment']}`),
    ...tags.body.file_tags.map((one: Record<string, string>) => `${one['tag_name']} ${one['tag_color']}`),
  ]
}

onBothDatabases('comments and tags of a backup', (fresh) => {
  it('come back with a library, an account, a folder and a file, and change none that are there', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const env: Record<string, string> = {}
    if (database.setting?.kind === 'postgres') env['CARREL_DATABASE'] = database.setting.url
    await using server = await startServer({ env })
    const flags = flagsOf(server)
    const admin = await server.admin()
    const ann = await server.signUp({ email: 'ann@example.org' })
    const library = await ann.createLibrary('Papers')
    const other = await ann.createLibrary('Other')
    for (const file of ['/plans/a.txt', '/plans/b.txt', '/c.txt']) await uploadFile(ann, library, file, file)
    await comment(ann, library, '/plans/a.txt', 'First')
    await comment(ann, library, '/plans/a.txt', 'Second')
    await tag(ann, library, '/plans/a.txt', 'Urgent')
    await tag(ann, library, '/c.txt', 'Later')
    await comment(ann, library, '/c.txt', 'Of c')
    assert.equal((await carrel(['backup', target, ...flags])).code, 0)
    const ofA = ['ann@example.org: First', 'ann@example.org: Second', 'Urgent #ff8000']
    const restore = async (...more: string[]) => {
      const done = await carrel(['restore', target, '--json', ...flags, ...more])
      assert.equal(done.code, 0, done.stderr)
      return JSON.parse(done.stdout)
    }

    // One folder into another library, and once more under another name.
    await restore('--library', library, '--path', '/plans', '--to-library', other)
    assert.deepEqual(await annotationsOf(ann, other, '/plans/a.txt'), ofA)
    assert.deepEqual(await annotationsOf(ann, other, '/plans/b.txt'), [])
    await comment(ann, other, '/plans/a.txt', 'Third')
    await restore('--library', library, '--path', '/plans/a.txt', '--to-library', other)
    assert.deepEqual(await annotationsOf(ann, other, '/plans/a.txt'), [
      ...ofA.slice(0, 2),
      'ann@example.org: Third',
      'Urgent #ff8000',
    ])
    const tags = await ann.get(`/api/v2.1/repos/${other}/repo-tags/`)
    assert.deepEqual(
      tags.body.repo_tags.map((one: Record<string, string>) => one['tag_name']),
      ['Urgent'],
      'only the tags of restored files',
    )

    // Deleted since: what was said about it after the backup comes back with it.
    await comment(ann, library, '/c.txt', 'After the backup')
    assert.equal((await ann.delete(`/api2/repos/${library}/file/`, { query: { p: '/c.txt' } })).status, 200)
    await restore('--library', library, '--path', '/c.txt')
    assert.deepEqual(await annotationsOf(ann, library, '/c.txt'), [
      'ann@example.org: Of c',
      'ann@example.org: After the backup',
      'Later #ff8000',
    ])

    // The whole library, beside the existing one and after it was purged.
    const [copy] = (await restore('--library', library)).libraries
    assert.notEqual(copy.id, library)
    assert.deepEqual(await annotationsOf(ann, copy.id, '/plans/a.txt'), ofA)
    assert.equal((await ann.delete(`/api/v2.1/repos/${library}/`)).status, 200)
    assert.equal((await admin.delete(`/api/v2.1/admin/trash-libraries/${library}/`)).status, 200)
    const { libraries } = await restore('--account', 'ann@example.org')
    assert.ok(libraries.some(({ id }: { id: string }) => id === library))
    assert.deepEqual(await annotationsOf(ann, library, '/plans/a.txt'), ofA)
    assert.deepEqual(await annotationsOf(ann, library, '/c.txt'), ['ann@example.org: Of c', 'Later #ff8000'])
    const checked = await carrel(['check', '--read-data', ...flags])
    assert.equal(checked.code, 0, checked.stdout)
  })
})

it('an account of which one library cannot be restored gets the others, with exit code 1', async () => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  await using server = await startServer()
  const ann = await server.signUp({ email: 'ann@example.org' })
  // Its password fits only its id, which the server still has.
  const { id: encrypted } = await createEncrypted(ann, 2)
  const library = await ann.createLibrary('Papers')
  await uploadFile(ann, library, '/a.txt', 'a')
  assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 0)
  await uploadFile(ann, library, '/later.txt', 'later')
  const restore = (account: string) =>
    carrel(['restore', target, '--json', '--account', account, ...flagsOf(server)])
  const done = await restore('ann@example.org')
  assert.equal(done.code, 1, done.stdout)
  assert.match(
    done.stderr,
    new RegExp(`^The library .* \\(${encrypted}\\) was not restored: .* is encrypted`),
  )
  const report = JSON.parse(done.stdout)
  assert.deepEqual(
    report.failures.map(({ id }: { id: string }) => id),
    [encrypted],
  )
  assert.equal(report.libraries.length, 1)
  assert.match(report.libraries[0].name, /^Papers \(/)
  const unknown = await restore('nobody@example.org')
  assert.deepEqual([unknown.code, /has no account nobody@example.org/.test(unknown.stderr)], [1, true])
})
