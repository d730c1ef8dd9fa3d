import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { findProgram } from '../../bin/system-programs.ts'
import { shareWith } from '../api/sharing-support.ts'
import { SeafClient, treeOf, until } from '../support/seaf-client.ts'
import { startServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { uploadFile } from '../support/transfer.ts'

const program = findProgram('seaf-cli')
const password = 'a long password'

it('a folder that is shared syncs as a library of its own, and takes pushes', async (t) => {
  if (program === undefined) return t.skip('seaf-cli is not installed')
  await using server = await startServer()
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-seaf-'))
  const ann = await server.signUp({ email: 'ann@example.org' })
  const cid = await server.signUp({ email: 'cid@example.org', password })
  const at = { url: server.url, email: cid.email, password }
  await using client = await SeafClient.start(program, path.join(folder, 'client'), at)
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const library = await ann.createLibrary('Whole')
  await uploadFile(ann, library, '/project/plan.txt', 'by ann')
  await uploadFile(ann, library, '/secret.txt', 'not for cid')
  const sub = await shareWith(ann, library, cid, { path: '/project' })
  const here = path.join(client.folder, 'project')
  await client.clone(sub, client.folder)
  const sync = await SyncClient.link(ann, library)
  /** The local folder and the folder on the server hold these. */
  const come = (what: string, expected: Record<string, string>) =>
    until(what, [client], async () => {
      const local: [string, string][] = []
      for (const name of Object.keys(await treeOf(here))) {
        local.push([name, await readFile(path.join(here, name), 'utf8')])
      }
      assert.deepEqual(Object.fromEntries(local), expected)
      const remote = [...(await sync.clone())].flatMap(([name, bytes]) =>
        name.startsWith('/project/') ? [[name.slice('/project/'.length), String(bytes)]] : [],
      )
      assert.deepEqual(Object.fromEntries(remote), expected)
    })
  await come('the clone', { 'plan.txt': 'by ann' })
  await writeFile(path.join(here, 'by cid.txt'), 'by cid')
  await come('a push', { 'plan.txt': 'by ann', 'by cid.txt': 'by cid' })
  assert.equal((await sync.commit(await sync.head())).creator_name, cid.email)
  await uploadFile(ann, library, '/project/later.txt', 'later')
  await come('a change of the web', { 'plan.txt': 'by ann', 'by cid.txt': 'by cid', 'later.txt': 'later' })
  await writeFile(path.join(here, 'plan.txt'), 'edited by cid')
  await rm(path.join(here, 'by cid.txt'))
  await come('an edit and a deletion', { 'plan.txt': 'edited by cid', 'later.txt': 'later' })
  assert.match(await client.run('status'), /project\s+synchronized/)
  assert.equal(String((await sync.clone()).get('/secret.txt')), 'not for cid')
})
