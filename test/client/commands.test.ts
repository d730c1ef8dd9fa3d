import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually, headOf, namesIn, uploadFile } from '../support/transfer.ts'
import { type ClientUser, clientUser } from './support.ts'

describe('the carrel client', () => {
  let server: TestServer
  let client: Client
  let user: ClientUser
  before(async () => {
    server = await startServer()
    client = await server.signUp()
    user = await clientUser(client)
  })
  after(async () => {
    await user[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })
  const local = (...names: string[]) => path.join(user.folder, ...names)

  it('copies a tree to the server and back, with times and empty folders', async () => {
    const library = await client.createLibrary('Trees')
    await mkdir(local('tree/deep/empty'), { recursive: true })
    await writeFile(local('tree/a.txt'), 'first')
    await writeFile(local('tree/deep/b ü?.txt'), 'second')
    await writeFile(local('tree/deep/none'), '')
    await utimes(local('tree/a.txt'), 1_700_000_000, 1_700_000_000)
    const sent = await user.json(['cp', '-r', local('tree'), 'Trees:'])
    assert.deepEqual(sent, { files: 3, bytes: 11, skipped: 0, failed: [] })
    assert.deepEqual(await namesIn(client, library, '/tree/deep'), ['b ü?.txt', 'empty/', 'none'])
    const again = await user.json(['cp', '-r', '--update', local('tree'), 'Trees:'])
    assert.equal(again.skipped, 3)

    await user.run(['cp', '-r', 'Trees:/tree', local('back')])
    assert.deepEqual(await readdir(local('back/deep')), ['b ü?.txt', 'empty', 'none'])
    assert.equal(await readFile(local('back/deep/b ü?.txt'), 'utf8'), 'second')
    assert.equal((await stat(local('back/a.txt'))).mtime.getTime(), 1_700_000_000_000)
    assert.deepEqual(await user.json(['cp', '-r', '-u', 'Trees:/tree/.', local('back')]), {
      files: 0,
      bytes: 0,
      skipped: 3,
      failed: [],
    })
  })

  it('copies single files to a name, into a folder, and by a pattern', async () => {
    const library = await client.createLibrary('Singles')
    for (const name of ['one.txt', 'two.txt', 'three.md'])
      await uploadFile(client, library, `/in/${name}`, name)
    await writeFile(local('x'), 'x')
    await user.run(['cp', local('x'), 'Singles:/renamed'])
    await user.run(['cp', local('x'), 'Singles:/in'])
    await user.run(['cp', local('x'), 'Singles:/new/'])
    assert.deepEqual(await namesIn(client, library, '/new'), ['x'])
    await user.run(['cp', 'Singles:/in/*.txt', local('texts/')])
    assert.deepEqual(await readdir(local('texts')), ['one.txt', 'two.txt'])
    await user.run(['cp', 'Singles:/renamed', local('y')])
    assert.equal(await readFile(local('y'), 'utf8'), 'x')
    assert.match((await user.run(['cp', local('x'), local('z')], 2)).stderr, /LIBRARY:\/path/)
    assert.match((await user.run(['cp', 'Singles:/in', local('z')], 2)).stderr, /--recursive/)
  })

  it('lists, finds, reads ranges and earlier states', async () => {
    const library = await client.createLibrary('Reading')
    await uploadFile(client, library, '/docs/a.txt', 'hello world')
    const earlier = await headOf(client, library)
    await uploadFile(client, library, '/docs/a.txt', 'changed\n', { replace: true })
    await uploadFile(client, library, '/docs/sub/c.md', 'c')
    assert.match((await user.run(['ls'])).stdout, /^Reading:$/m)
    assert.equal((await user.run(['ls', 'Reading:/docs'])).stdout, 'sub/\na.txt\n')
    assert.match(
      (await user.run(['ls', '-l', 'Reading:/docs'])).stdout,
      /8 B {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}a\.txt/,
    )
    assert.match(
      (await user.run(['tree', 'Reading:'])).stdout,
      /└── docs\/\n {4}├── sub\/\n {4}│ {3}└── c\.md/,
    )
    assert.equal((await user.run(['find', 'Reading:', '--name', '*.md'])).stdout, 'Reading:/docs/sub/c.md\n')
    assert.equal((await user.run(['cat', 'Reading:/docs/a.txt'])).stdout, 'changed\n')
    assert.equal((await user.run(['cat', '--at', earlier, 'Reading:/docs/a.txt'])).stdout, 'hello world')
    const part = ['cat', '--range', '6-8', '--at', earlier, 'Reading:/docs/a.txt']
    assert.equal((await user.run(part)).stdout, 'wor')
    assert.deepEqual(
      (await user.run(['diff', '--from', earlier, 'Reading:/docs/a.txt'])).stdout.split('\n').slice(2),
      ['@@ -1,1 +1,1 @@', '-hello world', '+changed', ''],
    )
    assert.equal(
      (await user.run(['diff', '--from', earlier, 'Reading:'])).stdout,
      'modified /docs/a.txt\nadded /docs/sub\n',
    )
    assert.equal((await user.json(['log', 'Reading:/docs/a.txt'])).length, 2)
    assert.match((await user.run(['log', '--changes', 'Reading:'])).stdout, /modified {2}\/docs\/a\.txt/)
    await user.run(['restore', '--at', earlier, 'Reading:/docs/a.txt'])
    assert.equal((await user.run(['cat', 'Reading:/docs/a.txt'])).stdout, 'hello world')
  })

  it('moves, renames, copies and deletes on the server, and restores from the trash', async () => {
    const library = await client.createLibrary('Changes')
    const other = await client.createLibrary('Others')
    for (const name of ['/a/1', '/a/2', '/b/1']) await uploadFile(client, library, name, name)
    await user.run(['mv', 'Changes:/a/1', 'Changes:/a/renamed'])
    await user.run(['mv', 'Changes:/a/renamed', 'Changes:/b/'])
    await user.run(['mv', 'Changes:/a/2', 'Changes:/b/3'])
    assert.deepEqual(await namesIn(client, library, '/b'), ['1', '3', 'renamed'])
    await user.run(['cp', '-r', 'Changes:/b', 'Others:'])
    assert.deepEqual(await namesIn(client, other, '/b'), ['1', '3', 'renamed'])
    await user.run(['cp', 'Changes:/b/1', 'Changes:/b/copy'])
    await user.run(['cp', 'Changes:/b/1', 'Changes:/b/3'], 7)
    await user.run(['rm', 'Changes:/b'], 2)
    await user.run(['rm', '-r', '--dry-run', 'Changes:/b'])
    await user.run(['rm', '-r', 'Changes:/b'])
    assert.deepEqual(await namesIn(client, library), ['a/'])
    await user.run(['restore', 'Changes:/b'])
    assert.deepEqual(await namesIn(client, library, '/b'), ['1', '3', 'copy', 'renamed'])
    await user.run(['mkdir', 'Changes:/x/y/z'])
    assert.deepEqual(await namesIn(client, library, '/x/y'), ['z/'])
  })

  it('shares with a user and by a link, and ends both', async () => {
    const library = await client.createLibrary('Shared')
    await uploadFile(client, library, '/folder/file', 'x')
    const ann = await server.signUp()
    await user.run(['share', 'Shared:/folder', '--with', ann.email, '--permission', 'rw'])
    const { url, token } = await user.json(['share', 'Shared:/folder', '--link', '--days', '3'])
    assert.match(url, /\/d\//)
    const listed = await user.json(['share', 'Shared:/folder'])
    assert.deepEqual(listed.shares, [{ to: 'user', recipient: ann.email, permission: 'rw' }])
    assert.equal(listed.links.length, 1)
    await using other = await clientUser(ann)
    assert.equal((await other.run(['ls', 'folder:'])).stdout, 'file\n')
    await user.run(['share', 'Shared:/folder', '--with', ann.email, '--end'])
    await user.run(['share', 'Shared:/folder', '--end', token])
    assert.deepEqual(await user.json(['share', 'Shared:/folder']), { shares: [], links: [] })
  })

  it('searches names and texts, in all libraries or below a folder', async () => {
    const library = await client.createLibrary('Searched')
    await uploadFile(client, library, '/in/note.txt', 'a rare zebra')
    await uploadFile(client, library, '/zebra.md', 'x')
    await eventually(async () => {
      const found = await user.json(['search', 'zebra'])
      const paths = found.map(({ path }: { path: string }) => path).sort()
      assert.deepEqual(paths, ['/in/note.txt', '/zebra.md'])
    })
    const { stdout } = await user.run(['search', 'zebra', '--in', 'Searched:/in'])
    assert.equal(stdout, 'Searched:/in/note.txt\n    a rare zebra\n')
  })

  it('completes commands, options, libraries and paths', async () => {
    const library = await client.createLibrary('Completed')
    await uploadFile(client, library, '/docs/file', 'x')
    const complete = async (line: string) =>
      (await user.run(['complete', '--', line])).stdout.split('\n').slice(0, -1)
    assert.deepEqual(await complete('carrel sea'), ['search'])
    assert.deepEqual(await complete('carrel cp --rec'), ['--recursive'])
    assert.deepEqual(await complete('carrel ls Compl'), ['Completed:'])
    assert.deepEqual(await complete('carrel ls Completed:/do'), ['Completed:/docs/'])
    assert.deepEqual(await complete('carrel cat Completed:/docs/'), ['Completed:/docs/file'])
    for (const shell of ['bash', 'zsh', 'fish']) {
      assert.match((await user.run(['completion', shell])).stdout, /carrel complete -- /)
    }
  })

  it('says with its exit code why a command failed', async () => {
    await client.createLibrary('Codes')
    assert.match((await user.run(['ls', 'Nowhere:'], 6)).stderr, /There is no library "Nowhere"/)
    await user.run(['cat', 'Codes:/missing'], 6)
    await user.run(['ls', 'Codes'], 2)
    await user.run(['cp', local('missing'), 'Codes:'], 6)
    await using stranger = await clientUser(client, '0'.repeat(40))
    assert.match((await stranger.run(['ls'], 4)).stderr, /carrel login/)
    assert.equal(typeof (await stranger.json(['ls'], 4)).error, 'string')
  })
})
