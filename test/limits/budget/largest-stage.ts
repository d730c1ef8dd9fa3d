import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { LibraryId } from '../../../src/base/objects/ids.ts'
import { dirDirent, EMPTY_ID, fileDirent } from '../../../src/base/objects/index.ts'
import { ROOT } from '../../../src/base/paths/index.ts'
import { MAX_COMMENT_TEXT, MAX_COMMENTS } from '../../../src/derived/annotations/comments.ts'
import { getLibrary } from '../../../src/libraries/library/libraries.ts'
import { Library } from '../../../src/libraries/library/library.ts'
import type { Value } from '../../../src/platform/database/database.ts'
import { expectOk, type Stage } from '../../api/matrix/stage.ts'
import { at } from '../../support/core.ts'

/** The stored state that calls meet. Where the limits permit more, this is a sample of it, and an answer grows with it or not at all. */
export const LARGEST = {
  /** Entries of /docs, with names of 255 bytes. */
  entries: 10_000,
  /** Entries of the root, and as many in its trash. */
  rootEntries: 1000,
  /** Levels of folders below /docs/deep. */
  levels: 200,
  commits: 300,
  /** Comments on /in.txt, with as many characters as they may have in all. */
  comments: MAX_COMMENTS,
  tags: 200,
  tagsOfFile: 50,
  notifications: 1000,
  /** Shares and members of each group. */
  accounts: 1000,
  links: 1000,
  sessions: 500,
  /** Personal tokens of the owner. */
  tokens: 90,
  libraries: 200,
  stars: 500,
  /** Some fewer than permitted, for the calls that lock. */
  locks: 480,
  auditEntries: 5000,
} as const

/** Long names that are as long again in every encoding: they are escaped in URLs and in XML. */
const longName = (n: number) => `${n} ${'ä&'.repeat(120)}`.slice(0, 160)

/** Fills a stage of the role matrix. The calls of the matrix then meet a library, an account and a server in the largest state. */
export async function enlarge(stage: Stage): Promise<{ readonly head: string }> {
  // What calls of the matrix create on first use, so that it is in the tree that `repair` restores.
  await stage.picture()
  await stage.archive()
  await stage.file()
  for (const kind of ['share', 'upload'] as const) await stage.link('openLink', kind)
  await fillAccounts(stage)
  await fillRows(stage)
  return { head: await fillLibrary(stage) }
}

async function fillLibrary(stage: Stage): Promise<string> {
  const { accounts, core } = stage.cast.server.running.services
  const { key, email, epoch } = await accounts.get(stage.owner.email)
  const open = async () => {
    const info = await getLibrary(core, stage.id as LibraryId)
    return new Library(core, info, { key, email, epoch }, 'rw').editable(ROOT)
  }
  const library = await open()
  const file = (name: string) => fileDirent({ id: EMPTY_ID, name, mtime: 1, size: 0, modifier: email })
  const commit = (apply: Parameters<typeof library.commit>[0]) => library.commit(apply)
  const trashed = Array.from({ length: LARGEST.rootEntries }, (_, n) => `trashed ${longName(n)}`)
  await commit(async (tree) => {
    for (let n = 0; n < LARGEST.entries; n++) await tree.put(at('/docs'), file(longName(n)))
    for (let n = 0; n < LARGEST.rootEntries; n++) await tree.put(ROOT, file(longName(n)))
    for (const name of trashed) await tree.put(ROOT, file(name))
    await tree.makeDirs(at(`/docs/deep${'/x'.repeat(LARGEST.levels)}`))
    return { description: 'many', result: 0 }
  })
  await commit(async (tree) => {
    for (const name of trashed) await tree.take(at(`/${name}`))
    return { description: `Deleted ${longName(0)}`, result: 0 }
  })
  for (let n = 0; n < LARGEST.commits; n++) {
    await commit(async (tree) => {
      await tree.put(ROOT, dirDirent({ id: EMPTY_ID, name: 'touched', mtime: n }))
      return { description: `Changed ${longName(n)}`, result: 0 }
    })
  }
  return (await open()).info.head
}

/** Accounts that have shares of the library and are members of its groups. */
async function fillAccounts(stage: Stage): Promise<void> {
  const { stranger, groupMember, writer, reader } = stage.cast.callers
  await stage.team()
  const account = await keyOf(stage, stranger.email)
  await multiply(stage, 'account', 'key = ?', [account], LARGEST.accounts, (n) => ({
    key: undefined,
    email: `many-${n}@example.org`,
    name: `Kol ${longName(n)}`,
    login_id: null,
  }))
  const { db } = stage.cast.server.running.services
  const rows = await db.all<{ key: number }>("select key from account where email like 'many-%'")
  const keys = rows.map(({ key }) => key)
  const of = (n: number) => ({ account_key: keys[n] ?? assert.fail('fewer accounts') })
  for (const member of [groupMember, writer]) {
    await multiply(
      stage,
      'group_member',
      'account_key = ?',
      [await keyOf(stage, member.email)],
      keys.length,
      of,
    )
  }
  const library = '(select key from library where id = ?)'
  const toReader = await keyOf(stage, reader.email)
  await multiply(
    stage,
    'share',
    `library_key = ${library} and grantee_key = ?`,
    [stage.id, toReader],
    keys.length,
    (n) => ({ grantee_key: keys[n] ?? 0 }),
  )
}

async function fillRows(stage: Stage): Promise<void> {
  const { owner } = stage
  const ownerKey = await keyOf(stage, owner.email)
  const { tags, libraries } = LARGEST
  for (let n = 0; n < libraries; n++) await owner.createLibrary(`Kol ${longName(n)}`)

  const comment = await stage.comment()
  await multiply(stage, 'file_comment', 'key = ?', [comment], LARGEST.comments - 1, () => ({
    key: undefined,
    comment: '"'.repeat(MAX_COMMENT_TEXT / MAX_COMMENTS),
  }))
  const tagged = await stage.tagOfFile()
  await multiply(stage, 'library_tag', 'key = ?', [tagged.repo_tag_id], tags - 60, (n) => ({
    key: undefined,
    name: `tag ${n}`,
    name_folded: `tag ${n}`,
  }))
  const { db } = stage.cast.server.running.services
  const others = await db.all<{ key: number }>("select key from library_tag where name like 'tag %'")
  const commented = await db.get<{ key: number }>("select key from annotated_file where path = '/in.txt'")
  await multiply(stage, 'file_tag', 'key = ?', [tagged.file_tag_id], LARGEST.tagsOfFile - 1, (n) => ({
    key: undefined,
    file_key: commented?.key ?? assert.fail('no comment'),
    tag_key: others[n]?.key ?? assert.fail('fewer tags'),
  }))

  const handed = await stage.cast.callers.stranger.createLibrary('Handed over')
  expectOk(
    await stage.cast.callers.stranger.put(`/api2/repos/${handed}/owner/`, { form: { owner: owner.email } }),
  )
  await multiply(stage, 'notification', 'account_key = ?', [ownerKey], LARGEST.notifications - 1, () => ({
    key: undefined,
  }))

  for (const kind of ['share', 'upload'] as const) {
    const token = await stage.link('openLink', kind)
    await multiply(stage, 'link', 'token = ?', [token], LARGEST.links, () => ({
      key: undefined,
      token: randomBytes(10).toString('hex'),
    }))
  }
  await multiply(stage, 'api_token', 'account_key = ?', [ownerKey], LARGEST.sessions, (n) => ({
    key: undefined,
    hash: randomBytes(32),
    device_id: `${n}`,
    platform: 'linux',
    device_name: longName(n),
  }))
  await multiply(stage, 'scoped_token', 'account_key = ?', [ownerKey], LARGEST.tokens, (n) => ({
    key: undefined,
    hash: randomBytes(32),
    name: longName(n),
  }))
  expectOk(await owner.post('/api/v2.1/starred-items/', { form: { repo_id: stage.id, path: '/in.txt' } }))
  await multiply(stage, 'star', 'account_key = ?', [ownerKey], LARGEST.stars, (n) => ({
    path_key: randomBytes(20),
    path: `/docs/${longName(n)}`,
  }))
  expectOk(
    await owner.put(`/api/v2.1/repos/${stage.id}/file/`, {
      query: { p: '/docs/in.txt' },
      form: { operation: 'lock' },
    }),
  )
  await multiply(stage, 'file_lock', 'account_key = ?', [ownerKey], LARGEST.locks, (n) => ({
    path_key: randomBytes(20),
    path: `/docs/${longName(n)}`,
  }))
  await stage.webhook()
  await multiply(stage, 'audit_entry', 'object_id <> ?', [''], LARGEST.auditEntries, () => ({
    key: undefined,
    path: `/docs/${longName(1)}`,
  }))
}

async function keyOf({ cast }: Stage, email: string): Promise<number> {
  return (await cast.server.running.services.accounts.get(email)).key
}

/** Copies a row that the server has written, with other values where rows have to differ. `undefined` leaves a column out. */
async function multiply(
  { cast }: Stage,
  table: string,
  where: string,
  values: readonly Value[],
  count: number,
  vary: (n: number) => Record<string, Value | undefined>,
): Promise<void> {
  const { db } = cast.server.running.services
  const row = await db.get(`select * from ${table} where ${where} limit 1`, ...values)
  assert.ok(row !== undefined, `${table} has no row to copy`)
  const rows = Array.from({ length: count }, (_, n) => ({ ...row, ...vary(n) }))
  const columns = Object.keys(rows[0] ?? {}).filter(
    (name) => rows[0]?.[name as keyof (typeof rows)[0]] !== undefined,
  )
  await db.write((tx) =>
    tx.insert(
      table,
      columns,
      rows.map((one) => columns.map((name) => (one as Record<string, Value>)[name] ?? null)),
    ),
  )
}

/** Undoes what a call did to the library that others need: deletes it, gives it away, or changes its tree. */
export async function repair(stage: Stage, head: string): Promise<void> {
  const { db } = stage.cast.server.running.services
  const row = await db.get<{ deleted_at: number | null; owner: string; name: string; head: Uint8Array }>(
    'select deleted_at, email as owner, l.name, head from library l join account a on a.key = l.owner_key where l.id = ?',
    stage.id,
  )
  assert.ok(row !== undefined, 'the library was purged')
  const { administrator } = stage.cast.callers
  if (row.deleted_at !== null) {
    expectOk(await administrator.put(`/api/v2.1/admin/trash-libraries/${stage.id}/`))
  }
  if (row.owner !== stage.owner.email.toLowerCase()) {
    expectOk(
      await administrator.put(`/api/v2.1/admin/libraries/${stage.id}/`, {
        form: { owner: stage.owner.email },
      }),
    )
  }
  if (row.name !== stage.name) {
    const options = { query: { op: 'rename' }, form: { repo_name: stage.name } }
    expectOk(await stage.owner.post(`/api2/repos/${stage.id}/`, options))
  }
  if (Buffer.from(row.head).toString('hex') !== head) {
    await stage.owner.post(`/api/v2.1/repos/${stage.id}/commits/${head}/revert/`)
  }
}
