import assert from 'node:assert/strict'
import { hash, pbkdf2Sync } from 'node:crypto'
import { rm, stat, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { checkServer } from '../support/check.ts'
import { Client } from '../support/client.ts'
import { download } from '../support/encrypted.ts'
import { randomBytesFrom } from '../support/import-bytes.ts'
import { EMPTY, SeafileServer } from '../support/seafile-layout.ts'
import { startServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { fingerprint, flat, importSeafile, temporaryFolder } from './support.ts'

const ANN = 'ann@example.org'
const BOB = 'bob@example.org'
const TOKEN = 'a1b2c3d4e5f60718293a'
const API_TOKEN = hash('sha1', 'api token')
const SYNC_TOKEN = hash('sha1', 'sync token')
const LOCKED_VIEW_TOKEN = hash('sha1', 'sync token of the encrypted view')
const VIEW_TOKEN = hash('sha1', 'sync token of the view')

/** An installation with people, and a library that uses everything. */
async function createSource(folder: string) {
  const source = new SeafileServer(folder)
  source.addUser(ANN, { isStaff: true, nickname: 'Ann', password: 'ann’s password' })
  source.addUser(BOB, { contactEmail: 'bob.contact@example.org' })
  source.addUser('carl@example.org', { isActive: false })
  source.add('UserQuota', { id: 1, user: BOB, quota: 5_000_000_000 })
  source.add('Group', {
    group_id: 7,
    group_name: 'Team',
    creator_name: ANN,
    timestamp: 1_600_000_000_000_000,
    type: null,
    parent_group_id: 0,
  })
  source.add('GroupUser', { id: 1, group_id: 7, user_name: ANN, is_staff: 1 })
  source.add('GroupUser', { id: 2, group_id: 7, user_name: BOB, is_staff: 0 })
  source.add('api2_token', { key: API_TOKEN, user: ANN, created: '2024-01-01 10:00:00' })

  const docs = await source.addLibrary({ name: 'Docs', owner: ANN })
  const large = randomBytesFrom('large', 350_000)
  await docs.commit({ 'a.txt': 'one', 'large.bin': large }, 'Added "a.txt".')
  const base = docs.head
  const side = await docs.commit({ 'a.txt': 'one', 'large.bin': large, 'b.txt': 'side' }, 'Added "b.txt".', {
    isSide: true,
  })
  await docs.commit({ 'a.txt': 'two', 'large.bin': large }, 'Modified "a.txt".', { parent: base, by: BOB })
  docs.name = 'Documents'
  const shared = { 'inside.txt': 'shared text', deeper: { 'x.txt': 'x' } }
  await docs.commit(
    { 'a.txt': 'two', 'b.txt': 'side', 'large.bin': large, shared, empty: {}, 'zero.txt': '' },
    'Merged',
    { secondParent: side },
  )
  const view = await source.addVirtual(docs, '/shared', await docs.writeTree(shared))
  source.add('SharedRepo', { id: 1, repo_id: view.id, from_email: ANN, to_email: BOB, permission: 'rw' })
  source.add('RepoGroup', { id: 1, repo_id: docs.id, group_id: 7, user_name: ANN, permission: 'r' })
  source.add('RepoHistoryLimit', { id: 1, repo_id: docs.id, days: -1 })
  source.add('RepoUserToken', { id: 1, repo_id: docs.id, email: ANN, token: SYNC_TOKEN })
  source.add('RepoUserToken', { id: 2, repo_id: view.id, email: BOB, token: VIEW_TOKEN })
  source.add('RepoTokenPeerInfo', {
    id: 1,
    token: SYNC_TOKEN,
    peer_id: 'c'.repeat(40),
    peer_ip: '192.0.2.1',
    peer_name: 'laptop',
    sync_time: 1_700_000_000,
    client_ver: '8.0.10',
  })
  const django = pbkdf2Sync('link password', 'salty', 1000, 32, 'sha256').toString('base64')
  source.add('share_fileshare', {
    id: 1,
    username: ANN,
    repo_id: docs.id,
    path: '/a.txt',
    token: TOKEN,
    ctime: '2024-01-01 10:00:00.123456',
    view_cnt: 3,
    s_type: 'f',
    password: `pbkdf2_sha256$1000$salty$${django}`,
    expire_date: null,
    permission: '{"can_edit":false,"can_download":true,"can_upload":false}',
  })
  source.add('share_uploadlinkshare', {
    id: 1,
    username: ANN,
    repo_id: docs.id,
    path: '/shared/',
    token: 'fedcba987654321001',
    ctime: '2024-01-01 10:00:00',
    view_cnt: 0,
    password: null,
    expire_date: '2099-01-01 00:00:00',
  })
  source.add('base_userstarredfiles', {
    id: 1,
    email: ANN,
    org_id: -1,
    repo_id: docs.id,
    path: '/a.txt',
    is_dir: 0,
  })
  return { source, docs, view, large }
}

describe('an import from Seafile', () => {
  it('brings over libraries with their history, people, and what is shared', async () => {
    await using folder = await temporaryFolder()
    const { source, docs, view, large } = await createSource(folder.path)
    const locked = await source.addLibrary({
      name: 'Locked',
      owner: BOB,
      encVersion: 2,
      password: 'open sesame',
    })
    const vault = { 'deep.txt': 'a deep secret' }
    await locked.commit({ 'secret.txt': 'a secret', 'large.bin': large, vault }, 'Added "secret.txt".')
    const lockedView = await source.addVirtual(locked, '/vault', await locked.writeTree(vault))
    source.add('RepoUserToken', { id: 3, repo_id: lockedView.id, email: BOB, token: LOCKED_VIEW_TOKEN })
    const old = await source.addLibrary({ name: 'Old', owner: ANN, version: 0 })
    await old.commit({ 'old.txt': 'first', sub: { 'kept.txt': 'kept' } }, 'Added')
    await old.commit({ 'old.txt': 'second', sub: { 'kept.txt': 'kept' } }, 'Modified')
    const gone = await source.addLibrary({ name: 'Gone', owner: BOB })
    source.tables.set(
      'Repo',
      (source.tables.get('Repo') ?? []).filter((row) => row['repo_id'] !== gone.id),
    )
    source.add('RepoTrash', {
      id: 1,
      repo_id: gone.id,
      repo_name: 'Gone',
      head_id: gone.head,
      owner_id: BOB,
      size: 0,
      org_id: -1,
      del_time: Math.floor(Date.now() / 1000) - 60,
    })
    const dump = await source.writeDump()
    const before = await fingerprint(folder.path)

    await using server = await startServer()
    const rehearsal = await importSeafile(server, folder.path, '--sql', dump, '--dry-run')
    assert.equal(rehearsal.code, 0, rehearsal.stderr + rehearsal.stdout)
    const planned = JSON.parse(rehearsal.stdout)
    const done = await importSeafile(server, folder.path, '--sql', dump)
    assert.equal(done.code, 0, done.stderr + done.stdout)
    const report = JSON.parse(done.stdout)
    assert.deepEqual(await fingerprint(folder.path), before, 'the source is unchanged')
    for (const name of [
      'libraries',
      'accounts',
      'groups',
      'shares',
      'links',
      'stars',
      'views',
      'syncTokens',
      'apiTokens',
      'problems',
    ]) {
      assert.deepEqual(planned[name], report[name], `the dry run said so: ${name}`)
    }
    assert.deepEqual(report.problems, [])
    const counts = {
      accounts: report.accounts,
      groups: report.groups,
      shares: report.shares,
      links: report.links,
      stars: report.stars,
    }
    assert.deepEqual(counts, { accounts: 3, groups: 1, shares: 2, links: 2, stars: 1 })
    assert.ok(
      report.blocks.reflinked + report.blocks.hardLinked > 0,
      'no bytes were copied on one file system',
    )

    // Passwords of the source are checked once, and then stored in the form of this server.
    const ann = await Client.signIn(server.url, ANN, 'ann’s password')
    await Client.signIn(server.url, ANN, 'ann’s password')
    const { db } = server.running.services
    const stored = await db.all<{ password_hash: string }>(
      'select password_hash from account where email = ?',
      ANN,
    )
    assert.match(stored[0]?.password_hash ?? '', /^\$argon2id/)
    const bob = await Client.signIn(server.url, 'bob.contact@example.org', 'secret')
    const carl = await new Client(server.url).post('/api2/auth-token/', {
      form: { username: 'carl@example.org', password: 'secret' },
    })
    assert.equal(carl.status, 400, 'an inactive account stays inactive')
    const wrong = await new Client(server.url).post('/api2/auth-token/', {
      form: { username: ANN, password: 'secret' },
    })
    assert.equal(wrong.status, 400)

    // Every revision, as a sync client with the token of the source sees it.
    const sync = new SyncClient(server.url, docs.id, SYNC_TOKEN, ANN)
    assert.equal(await sync.head(), docs.head)
    for (const { id, tree } of docs.revisions)
      assert.deepEqual(sorted(await sync.clone(id)), sorted(flat(tree)))
    assert.deepEqual(await sync.listIds(docs.head, docs.head), [], 'a client at this head downloads nothing')
    const history = await ann.get(`/api/v2.1/repos/${docs.id}/history/`)
    assert.deepEqual(
      history.body.data
        .map((one: { commit_id: string }) => one.commit_id)
        .filter((id: string) => docs.revisions.some((revision) => revision.id === id)),
      docs.revisions.map(({ id }) => id).toReversed(),
    )

    // The virtual library keeps its id and its clients.
    const seen = new SyncClient(server.url, view.id, VIEW_TOKEN, BOB)
    assert.deepEqual(await seen.listIds(await seen.head(), view.head), [])
    await sync.push({ ...docs.revisions.at(-1)?.tree, 'new.txt': 'pushed' }, docs.head)
    assert.equal(String(await download(bob, locked.id, '/secret.txt').catch(() => 'refused')), 'refused')
    const opened = await bob.post(`/api/v2.1/repos/${locked.id}/set-password/`, {
      form: { password: 'open sesame' },
    })
    assert.equal(opened.status, 200, opened.text)
    assert.equal(String(await download(bob, locked.id, '/secret.txt')), 'a secret')
    assert.deepEqual(await download(bob, locked.id, '/large.bin'), large)

    const lockedSeen = new SyncClient(server.url, lockedView.id, LOCKED_VIEW_TOKEN, BOB)
    assert.deepEqual(await lockedSeen.listIds(await lockedSeen.head(), lockedView.head), [])
    const wrongOfView = await bob.post(`/api/v2.1/repos/${lockedView.id}/set-password/`, {
      form: { password: 'open barley' },
    })
    assert.equal(wrongOfView.status, 400)
    const openedView = await bob.post(`/api/v2.1/repos/${lockedView.id}/set-password/`, {
      form: { password: 'open sesame' },
    })
    assert.equal(openedView.status, 200, openedView.text)
    assert.equal(String(await download(bob, lockedView.id, '/deep.txt')), 'a deep secret')

    // Version 0 is converted.
    assert.equal(String(await download(ann, old.id, '/old.txt')), 'second')
    const oldSync = await SyncClient.link(ann, old.id)
    for (const { id, tree } of old.revisions)
      assert.deepEqual(sorted(await oldSync.clone(id)), sorted(flat(tree)))

    // Links keep their tokens and passwords.
    const visit = (password: string) =>
      fetch(`${server.url}/f/${TOKEN}/?dl=1&password=${encodeURIComponent(password)}`)
    assert.notEqual(await (await visit('wrong')).text(), 'two')
    const shownPassword = async () => (await ann.get(`/api/v2.1/share-links/${TOKEN}/`)).body.password
    assert.ok(!(await shownPassword()), 'only its hash is known')
    assert.equal(await (await visit('link password')).text(), 'two')
    assert.equal(await shownPassword(), 'link password', 'its first use made it known')
    assert.equal(await (await visit('link password')).text(), 'two')
    assert.notEqual(await (await visit('wrong')).text(), 'two')
    const log = await (await server.admin()).get('/api/v2.1/admin/audit-log/', { actor: 'operator' })
    const added = (log.body.entries as { action: string; object_id: string }[]).map(
      (entry) => `${entry.action} ${entry.object_id}`,
    )
    for (const id of [docs.id, locked.id, old.id, gone.id]) {
      assert.equal(added.filter((one) => one === `library-imported ${id}`).length, 1)
    }
    assert.ok(added.includes(`account-made ${ANN}`) && added.some((one) => one.startsWith('group-made ')))
    const withToken = new Client(server.url, API_TOKEN)
    const stars = await withToken.get('/api/v2.1/starred-items/')
    assert.deepEqual(
      stars.body.starred_item_list.map((one: { path: string }) => one.path),
      ['/a.txt'],
    )
    const libraries = await bob.get('/api/v2.1/repos/')
    const names = libraries.body.repos
      .map((one: { repo_name: string; type: string }) => `${one.repo_name} ${one.type}`)
      .sort()
    assert.deepEqual(names, ['Documents group', 'Locked mine', 'shared shared'])
    const deleted = await bob.get('/api/v2.1/deleted-repos/')
    assert.deepEqual(
      deleted.body.map((one: { repo_id: string }) => one.repo_id),
      [gone.id],
    )

    const checked = await checkServer(server)
    assert.deepEqual(checked.findings, [])
    const again = JSON.parse((await importSeafile(server, folder.path, '--sql', dump)).stdout)
    assert.deepEqual(
      new Set(again.libraries.map((one: { state: string }) => one.state)),
      new Set(['present']),
    )
    assert.equal(
      again.shares + again.links + again.accounts + again.groups,
      0,
      'a repeated import adds nothing',
    )
  })

  it('takes what a damaged installation still has, and says what it lacks', async () => {
    await using folder = await temporaryFolder()
    const { source, docs } = await createSource(folder.path)
    const hurt = await source.addLibrary({ name: 'Hurt', owner: ANN })
    const lost = randomBytesFrom('lost', 90_000)
    const bad = randomBytesFrom('bad', 90_000)
    await hurt.commit(
      { 'good.txt': 'good', 'lost.bin': lost, 'bad.bin': bad, 'small.txt': 'small and lost' },
      'Added files',
    )
    const dirWithBytes = await hurt.writeDir([
      {
        name: Buffer.from([0x66, 0xff, 0x2e, 0x74]),
        mode: 33188,
        id: await hurt.writeFile(Buffer.from('odd')),
        size: 3,
      },
      { name: Buffer.from('fine.txt'), mode: 33188, id: await hurt.writeFile(Buffer.from('fine')), size: 4 },
    ])
    const gone = await hurt.writeTree({ 'never.txt': 'seen again' })
    const goneFile = await hurt.writeFile(Buffer.from('the object of this file is damaged'))
    const entry = (name: string, mode: number, id: string, size?: number) => ({
      name: Buffer.from(name),
      mode,
      id,
      size,
    })
    const root = await hurt.writeDir([
      entry('odd', 16384, dirWithBytes),
      entry('gone', 16384, gone),
      entry('damaged.txt', 33188, goneFile, 34),
      entry('lost.bin', 33188, await hurt.writeFile(lost), lost.length),
      entry('bad.bin', 33188, await hurt.writeFile(bad), bad.length),
      entry('good.txt', 33188, await hurt.writeFile(Buffer.from('good')), 4),
    ])
    await hurt.commitRoot(root, 'Damaged')
    await rm(source.fileOf('blocks', 1, hurt.id, hash('sha1', lost)))
    await writeFile(source.fileOf('blocks', 1, hurt.id, hash('sha1', bad)), Buffer.alloc(90_000))
    await rm(source.fileOf('blocks', 1, hurt.id, hash('sha1', 'small and lost')))
    await rm(source.fileOf('fs', 1, hurt.id, gone))
    await truncate(source.fileOf('fs', 1, hurt.id, goneFile), 10)
    source.add('RepoUserToken', { id: 9, repo_id: hurt.id, email: ANN, token: hash('sha1', 'hurt') })
    const headless = await source.addLibrary({ name: 'Headless', owner: ANN })
    await rm(source.fileOf('commits', 1, headless.id, headless.head))
    const branchless = await source.addLibrary({ name: 'Branchless', owner: ANN })
    source.tables.set(
      'Branch',
      (source.tables.get('Branch') ?? []).filter((row) => row['repo_id'] !== branchless.id),
    )
    const orphan = await source.addLibrary({ name: 'Orphan', owner: 'ldap@example.org' })
    await orphan.commit({ 'o.txt': 'orphan' }, 'Added')
    const unnamed = await source.addLibrary({ name: 'Unnamed', owner: ANN })
    source.tables.set(
      'Repo',
      (source.tables.get('Repo') ?? []).filter((row) => row['repo_id'] !== unnamed.id),
    )
    source.add('SharedRepo', {
      id: 5,
      repo_id: docs.id,
      from_email: ANN,
      to_email: 'nobody@example.org',
      permission: 'r',
    })
    source.add('SharedRepo', {
      id: 6,
      repo_id: EMPTY.slice(0, 8),
      from_email: ANN,
      to_email: BOB,
      permission: 'r',
    })
    source.add('SharedRepo', {
      id: 7,
      repo_id: docs.id,
      from_email: ANN,
      to_email: BOB,
      permission: 'preview',
    })
    const databases = await source.writeSqlite()

    await using server = await startServer()
    const done = await importSeafile(server, path.join(folder.path, 'seafile-data'), '--sqlite', databases)
    assert.equal(done.code, 1, done.stderr + done.stdout)
    const report = JSON.parse(done.stdout)
    assert.deepEqual(report.problemCounts, {
      'account-added': 1,
      'block-damaged': 1,
      'block-missing': 2,
      'file-lost': 1,
      'folder-lost': 1,
      'head-damaged': 1,
      'library-skipped': 2,
      'name-changed': 1,
      'orphaned-objects': 1,
      'share-skipped': 3,
      'token-skipped': 1,
    })
    const ann = await Client.signIn(server.url, ANN, 'ann’s password')
    assert.equal(String(await download(ann, hurt.id, '/good.txt')), 'good')
    assert.equal(String(await download(ann, hurt.id, '/odd/fine.txt')), 'fine')
    assert.equal(String(await download(ann, hurt.id, '/odd/f\ufffd.t')), 'odd')
    await assert.rejects(
      download(ann, hurt.id, '/lost.bin'),
      'a file without its block is refused, and not cut short',
    )
    const findings = (await checkServer(server)).findings
    assert.deepEqual([...new Set(findings.map(({ kind }) => kind))], ['block-missing'])
    assert.equal(
      (await new SyncClient(server.url, hurt.id, hash('sha1', 'hurt'), ANN).call('GET', 'commit/HEAD'))
        .status,
      403,
    )
  })

  it('works from the objects alone, copies where asked to, and goes on after an interruption', async () => {
    await using folder = await temporaryFolder()
    const { docs, large } = await createSource(folder.path)
    await using server = await startServer()
    const refused = await importSeafile(server, folder.path)
    assert.equal(refused.code, 2, refused.stderr)
    const owner = await server.signUp({ email: 'owner@example.org' })
    // What an import leaves that was killed before its library was complete.
    const { db } = server.running.services
    const { key } = (await db.get<{ key: number }>(
      'select key from account where email = ?',
      owner.email,
    )) ?? { key: 0 }
    await db.write((tx) =>
      tx.run(
        `insert into library (id, owner_key, name, description, head, head_seq, root, size, file_count, updated_at, modifier, created_at, deleted_at)
         values (?, ?, 'Docs (import unfinished)', '', ?, 0, ?, 0, 0, 1, '', 1, ?)`,
        docs.id,
        key,
        Buffer.from(docs.head, 'hex'),
        Buffer.alloc(20),
        Math.floor(Date.now() / 1000),
      ),
    )
    const done = await importSeafile(
      server,
      folder.path,
      '--owner',
      owner.email,
      '--copy',
      '--library',
      docs.id,
    )
    assert.equal(done.code, 0, done.stderr + done.stdout)
    const report = JSON.parse(done.stdout)
    assert.equal(report.libraries.length, 1)
    assert.equal(report.blocks.reflinked + report.blocks.hardLinked, 0)
    assert.deepEqual(await download(owner, docs.id, '/large.bin'), large)
    const sync = await SyncClient.link(owner, docs.id)
    for (const { id, tree } of docs.revisions)
      assert.deepEqual(sorted(await sync.clone(id)), sorted(flat(tree)))
    const file = path.join(server.data, 'blocks')
    assert.ok((await stat(file)).isDirectory())
    assert.deepEqual((await checkServer(server)).findings, [])
  })
})

function sorted(files: ReadonlyMap<string, Buffer | null>) {
  return Object.fromEntries(
    [...files]
      .map(([name, bytes]) => [name, bytes === null ? null : bytes.toString('latin1')] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}
