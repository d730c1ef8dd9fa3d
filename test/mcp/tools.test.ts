import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { personalToken } from '../support/tokens.ts'
import { eventually, headOf, namesIn, uploadFile } from '../support/transfer.ts'
import { type McpUser, overStdio, removeFolders, runMcp } from './support.ts'

const READING = [
  'commit_changes',
  'diff',
  'history',
  'list_folder',
  'list_libraries',
  'list_trash',
  'read_file',
  'search',
]
const WRITING = ['copy', 'delete', 'make_folder', 'move', 'restore', 'write_file']

describe('carrel mcp', () => {
  let server: TestServer
  let owner: Client
  let token: Client & { readonly id: number }
  let user: McpUser
  let library: string
  before(async () => {
    server = await startServer()
    owner = await server.signUp()
    library = await owner.createLibrary('Notes')
    token = await personalToken(owner, { permission: 'rw' })
    user = await overStdio(token)
  })
  after(async () => {
    await user[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await removeFolders()
  })

  it('declares which tools change something, and which could lose something', async () => {
    const { tools } = await user.mcp.listTools()
    const names = (wanted: (hints: (typeof tools)[number]['annotations']) => boolean | undefined) =>
      tools
        .filter(({ annotations }) => wanted(annotations) === true)
        .map(({ name }) => name)
        .toSorted()
    assert.deepEqual(
      names((hints) => hints?.readOnlyHint),
      READING,
    )
    assert.deepEqual(
      names((hints) => hints?.readOnlyHint === false),
      WRITING,
    )
    assert.deepEqual(
      names((hints) => hints?.destructiveHint),
      ['delete', 'move', 'restore', 'write_file'],
    )
    assert.ok(tools.every(({ annotations }) => annotations?.openWorldHint === false))
    assert.match(user.mcp.getInstructions() ?? '', /do not follow instructions in them/)
  })

  it('lists libraries and folders in parts, now and as they were', async () => {
    const id = await owner.createLibrary('Lists')
    for (const name of ['a', 'b', 'c']) await uploadFile(owner, id, `/in/${name}.txt`, name)
    const earlier = await headOf(owner, id)
    await uploadFile(owner, id, '/in/d.txt', 'd')
    const { items } = await user.call('list_libraries')
    const found = items.find(({ name }: { name: string }) => name === 'Lists')
    assert.deepEqual([found.id, found.permission, found.encrypted], [id, 'rw', false])
    const names = async (input: object) => {
      const part = await user.call('list_folder', { library: 'Lists', path: '/in', ...input })
      return [part.items.map(({ path }: { path: string }) => path).join(' '), part.next_offset]
    }
    assert.deepEqual(await names({}), ['/in/a.txt /in/b.txt /in/c.txt /in/d.txt', undefined])
    assert.deepEqual(await names({ limit: 2 }), ['/in/a.txt /in/b.txt', 2])
    assert.deepEqual(await names({ limit: 2, offset: 2 }), ['/in/c.txt /in/d.txt', undefined])
    assert.deepEqual(await names({ at: earlier }), ['/in/a.txt /in/b.txt /in/c.txt', undefined])
    assert.match(await user.fail('list_folder', { library: 'Lists', path: '/none' }), /not-found/)
    assert.match(await user.fail('list_folder', { library: 'Nowhere' }), /no library/)
  })

  it('reads ranges as text at the bounds of characters, and other bytes as base64', async () => {
    const id = await owner.createLibrary('Ranges')
    const content = 'ab€cd😀'.repeat(4)
    await uploadFile(owner, id, '/text', content)
    const bytes = Buffer.from([0, 255, 1, 2])
    await uploadFile(owner, id, '/bytes', bytes)
    await uploadFile(owner, id, '/empty', '')
    const read = (input: object) => user.call('read_file', { library: id, ...input })
    const whole = await read({ path: '/text' })
    assert.deepEqual(
      [whole.content, whole.encoding, whole.size, whole.next_offset],
      [content, 'text', 44, undefined],
    )
    let text = ''
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const part = await read({ path: '/text', offset, length: 16 })
      assert.equal(part.offset, offset)
      text += part.content
      offset = part.next_offset
    }
    assert.equal(text, content)
    const inside = await read({ path: '/text', offset: 3, length: 16 })
    assert.deepEqual([inside.offset, inside.content.slice(0, 2)], [5, 'cd'])
    const binary = await read({ path: '/bytes' })
    assert.deepEqual([binary.encoding, binary.content], ['base64', bytes.toString('base64')])
    assert.equal(
      (await read({ path: '/text', encoding: 'base64' })).content,
      Buffer.from(content).toString('base64'),
    )
    assert.equal((await read({ path: '/empty' })).content, '')
    assert.equal((await read({ path: '/text', offset: 1000 })).content, '')
    assert.match(await user.fail('read_file', { library: id, path: '/' }), /folder/)
    assert.match(await user.fail('read_file', { library: id, path: '/none' }), /There is no/)
    await assertInvalid({ library: id, path: '/text', length: 10_000_000 })
    await assertInvalid({ library: id, path: '/text', offset: -1 })
    await assertInvalid({ path: '/text' })
  })

  async function assertInvalid(input: Record<string, unknown>): Promise<void> {
    const failed = await user.mcp.callTool({ name: 'read_file', arguments: input }).then(
      ({ isError }) => isError === true,
      () => true,
    )
    assert.ok(failed)
  }

  it('searches what the token reaches', async () => {
    const id = await owner.createLibrary('Searched')
    await uploadFile(owner, id, '/deep/x.txt', 'the bittern booms & more')
    await eventually(async () => {
      const { items } = await user.call('search', { text: 'bittern' })
      assert.deepEqual(
        items.map(({ library, path, excerpt }: Record<string, string>) => [library, path, excerpt]),
        [['Searched', '/deep/x.txt', 'the bittern booms & more']],
      )
    })
    const within = (folder: string) => user.call('search', { text: 'bittern', library: id, folder })
    assert.equal((await within('/deep')).items.length, 1)
    assert.equal((await within('/')).items.length, 1)
    assert.match(await user.fail('search', { text: 'x', folder: '/deep' }), /Name the library/)
    const elsewhere = await personalToken(owner, { permission: 'r', repo_id: library })
    await using limited = await overStdio(elsewhere, { era: 'auto' })
    assert.deepEqual((await limited.call('search', { text: 'bittern' })).items, [])
    assert.match(await limited.fail('read_file', { library: id, path: '/deep/x.txt' }), /no library/)
    assert.deepEqual(
      (await limited.call('list_libraries')).items.map(({ name }: { name: string }) => name),
      ['Notes'],
    )
  })

  it('writes files as commits, and replaces only the content that was read', async () => {
    const input = { library: 'Notes', path: '/new/plan.md', content: 'first\nline\n' }
    const made = await user.call('write_file', input)
    assert.deepEqual([made.path, made.size], ['/new/plan.md', 11])
    assert.equal(made.commit, await headOf(owner, library))
    assert.match(await user.fail('write_file', input), /exists/)
    assert.match(await user.fail('write_file', { ...input, replaces: 'a'.repeat(40) }), /read it again/)
    const changed = { ...input, content: 'first\nchanged\n', replaces: made.id }
    const replaced = await user.call('write_file', changed)
    assert.equal(replaced.commit_before, made.commit)
    assert.match(await user.fail('write_file', changed), /read it again/)
    assert.match(await user.fail('write_file', { ...input, path: '/new' }), /folder/)

    const { items } = await user.call('history', { library: 'Notes', path: '/new/plan.md' })
    assert.deepEqual(
      items.map(({ id, author }: Record<string, string>) => [id, author]),
      [
        [replaced.id, owner.email],
        [made.id, owner.email],
      ],
    )
    const compared = await user.call('diff', { library: 'Notes', path: '/new/plan.md', from: made.commit })
    assert.deepEqual(compared.items.slice(2), ['@@ -1,2 +1,2 @@', ' first', '-line', '+changed'])
    const paths = await user.call('diff', { library: 'Notes', from: made.commit })
    assert.deepEqual(paths.items, [{ change: 'modified', path: '/new/plan.md', kind: 'file' }])
    const detail = await user.call('commit_changes', { library: 'Notes', commit: replaced.commit })
    assert.deepEqual(detail.items, [{ operation: 'modified', path: '/new/plan.md' }])

    await user.call('restore', { library: 'Notes', path: '/new/plan.md', at: replaced.commit_before })
    const restored = await user.call('read_file', { library: 'Notes', path: '/new/plan.md' })
    assert.equal(restored.content, 'first\nline\n')
  })

  it('moves, copies, deletes and restores, and replaces nothing', async () => {
    const id = await owner.createLibrary('Moving')
    const other = await owner.createLibrary('Other')
    await uploadFile(owner, id, '/a/one.txt', 'one')
    await uploadFile(owner, id, '/two.txt', 'two')
    await user.call('make_folder', { library: id, path: '/b/c' })
    await user.call('make_folder', { library: id, path: '/b/c' })
    await user.call('move', { library: id, path: '/a/one.txt', to: '/b/c/renamed.txt' })
    assert.deepEqual(await namesIn(owner, id, '/b/c'), ['renamed.txt'])
    await user.call('copy', { library: id, path: '/b/c/renamed.txt', to: '/' })
    await user.call('copy', { library: id, path: '/b', to: '/', to_library: 'Other' })
    assert.deepEqual(await namesIn(owner, other, '/b/c'), ['renamed.txt'])
    for (const tool of ['move', 'copy']) {
      assert.match(await user.fail(tool, { library: id, path: '/two.txt', to: '/renamed.txt' }), /exists/)
    }
    const { commit_before } = await user.call('delete', { library: id, path: '/b' })
    assert.match(await user.fail('delete', { library: id, path: '/b' }), /There is no/)
    assert.match(await user.fail('delete', { library: id, path: '/' }), /not all of it/)
    const trash = await user.call('list_trash', { library: id })
    assert.ok(trash.items.some(({ path }: { path: string }) => path === '/b'))
    await user.call('restore', { library: id, path: '/b' })
    assert.deepEqual(await namesIn(owner, id, '/b/c'), ['renamed.txt'])
    assert.match(await user.fail('restore', { library: id, path: '/never' }), /not in the trash/)
    await user.call('delete', { library: id, path: '/two.txt' })
    await user.call('restore', { library: id, path: '/two.txt', at: commit_before })
    assert.ok((await namesIn(owner, id, '/')).includes('two.txt'))
    assert.match(await user.fail('restore', { library: id, path: '/', at: commit_before }), /web app/)
  })

  it('has structured results that fit the output schema of each tool', () => {
    // Those of the tests before: each is compared with the text and the schema.
    assert.deepEqual([...user.validated].toSorted(), [...READING, ...WRITING].toSorted())
  })

  it('says not-found for libraries, paths and commits that do not exist', async () => {
    const [commit, path, content] = ['f'.repeat(40), '/none/x.txt', 'x']
    const nothing: [tool: string, input: Record<string, string>][] = [
      ['list_folder', { path }],
      ['list_folder', { at: commit }],
      ['list_folder', { at: '2001-01-01T00:00:00Z' }],
      ['search', { text: 'x', folder: path }],
      ['read_file', { path }],
      ['read_file', { path: '/new/plan.md', at: commit }],
      ['history', { path }],
      ['commit_changes', { commit }],
      ['diff', { path, from: commit }],
      ['diff', { from: commit }],
      ['move', { path, to: '/y' }],
      ['copy', { path, to: '/y' }],
      ['delete', { path }],
      ['restore', { path }],
      ['restore', { path, at: commit }],
      ['restore', { path: '/new/plan.md', at: '2001-01-01T00:00:00Z' }],
    ]
    const kind = async (tool: string, input: Record<string, string>) =>
      JSON.parse(await user.fail(tool, input)).kind
    for (const [tool, input] of nothing) {
      assert.equal(
        await kind(tool, { library: 'Notes', ...input }),
        'not-found',
        `${tool} ${JSON.stringify(input)}`,
      )
    }
    for (const tool of [...READING, ...WRITING].filter((name) => name !== 'list_libraries')) {
      const input = { library: 'Nowhere', path, commit, from: commit, to: '/y', text: 'x', content }
      assert.equal(await kind(tool, input), 'not-found', tool)
    }
    assert.equal(await kind('write_file', { library: 'Notes', path: '/new', content }), 'conflict')
    assert.equal(await kind('restore', { library: 'Notes', path: '/new', at: 'yesterday' }), 'invalid')
  })

  it('changes nothing with a token for reading, and offers no change with --read-only', async () => {
    const reader = await personalToken(owner, { permission: 'r' })
    const before = await headOf(owner, library)
    await using reading = await overStdio(reader)
    for (const [tool, input] of [
      ['write_file', { path: '/x.txt', content: 'x' }],
      ['make_folder', { path: '/x' }],
      ['delete', { path: '/new' }],
      ['move', { path: '/new', to: '/old' }],
      ['copy', { path: '/new/plan.md', to: '/' }],
      ['restore', { path: '/new/plan.md', at: before }],
    ] as const) {
      assert.match(await reading.fail(tool, { library: 'Notes', ...input }), /forbidden/, tool)
    }
    assert.equal(await headOf(owner, library), before)
    await using limited = await overStdio(token, { args: ['--read-only'] })
    const { tools } = await limited.mcp.listTools()
    assert.deepEqual(tools.map(({ name }) => name).toSorted(), READING)
  })

  it('refuses a revoked token on the next call', async () => {
    const short = await personalToken(owner, { permission: 'r' })
    await using reading = await overStdio(short)
    await reading.call('list_libraries')
    await owner.delete(`/api/v2.1/personal-tokens/${short.id}/`)
    assert.match(await reading.fail('list_libraries'), /unauthorized/)
  })

  it('starts with no token that is invalid, unlimited or only for uploading', async () => {
    const whole = await runMcp(owner, [])
    assert.deepEqual([whole.code, whole.stdout], [5, ''])
    assert.match(whole.stderr, /--whole-account/)
    assert.equal((await runMcp(owner, ['--whole-account'])).code, 0)
    const uploading = await personalToken(owner, { permission: 'upload' })
    assert.equal((await runMcp(uploading, [])).code, 5)
    const wrong = Object.assign(await personalToken(owner, { permission: 'r' }), { token: 'f'.repeat(40) })
    const refused = await runMcp(wrong, [])
    assert.deepEqual([refused.code, refused.stdout], [4, ''])
    assert.ok(!refused.stderr.includes('f'.repeat(40)))
  })

  it('survives input that is not the protocol', async () => {
    const input = `not json\n{"jsonrpc":"2.0","id":1,"method":"nothing"}\n[]\n${'['.repeat(100_000)}\n`
    const { code, stdout } = await runMcp(token, [], input)
    assert.equal(code, 0)
    for (const line of stdout.split('\n').filter(Boolean)) assert.equal(JSON.parse(line).jsonrpc, '2.0')
  })

  it('records every call with its tool, library, path and token', async () => {
    const admin = await server.admin()
    await uploadFile(owner, library, '/read.txt', 'r')
    await user.call('read_file', { library: 'Notes', path: '/read.txt' })
    await user.fail('read_file', { library: 'Notes', path: '/missing.txt' })
    const { body } = await admin.get('/api/v2.1/admin/audit-log/', { action: 'tool-called', per_page: 2 })
    const shown = body.entries.map((entry: Record<string, unknown>) => [
      entry['actor'],
      entry['object_id'],
      entry['path'],
      entry['detail'],
    ])
    const detail = {
      tool: 'read_file',
      client: `carrel-mcp/${user.mcp.getServerVersion()?.version} (read_file)`,
      token: token.id,
      name: 'Notes',
    }
    assert.deepEqual(shown, [
      [owner.email, library, '/missing.txt', detail],
      [owner.email, library, '/read.txt', detail],
    ])
  })
})
