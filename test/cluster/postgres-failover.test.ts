import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Nodes } from '../support/nodes.ts'
import { PostgresUnavailable } from '../support/postgres.ts'
import { ReplicatedPostgres } from '../support/replicated-postgres.ts'
import type { TestServer } from '../support/server.ts'
import {
  eventually,
  filePart,
  intoRoot,
  namesIn,
  postForm,
  uploadFile,
  uploadLink,
} from '../support/transfer.ts'

async function findReplicated(): Promise<ReplicatedPostgres | string> {
  try {
    return await ReplicatedPostgres.create()
  } catch (error) {
    if (!(error instanceof PostgresUnavailable) || process.env['CI'] === 'true') throw error
    return error.message
  }
}

/** A node on a primary and a standby. */
async function startReplicated(
  stack: AsyncDisposableStack,
  postgres: ReplicatedPostgres,
): Promise<TestServer> {
  stack.use(postgres)
  const { url } = postgres
  const nodes = stack.use(
    await Nodes.create({
      adminUrl: url,
      createDatabase: async () => url,
      createWithSchema: async () => url,
      copyDatabase: async () => url,
      [Symbol.asyncDispose]: async () => {},
    }),
  )
  return nodes.start()
}

it('a ticket that was issued before the primary dies is valid at the promoted standby', {
  timeout: 180_000,
}, async (t) => {
  const postgres = await findReplicated()
  if (typeof postgres === 'string') return t.skip(postgres)
  await using stack = new AsyncDisposableStack()
  const server = await startReplicated(stack, postgres)
  const user = await server.signUp()
  const library = await user.createLibrary('Tickets')
  await uploadFile(user, library, '/a.txt', 'a')
  // PostgreSQL writes commits that nobody waits for within 200 ms. These are a moment old.
  const links = await Promise.all(Array.from({ length: 20 }, () => uploadLink(user, library)))
  await postgres.killPrimary()
  await postgres.promote()
  await eventually(async () => assert.deepEqual(await namesIn(user, library), ['a.txt']))
  for (const [number, link] of links.entries()) {
    const { status, text } = await postForm(link, [intoRoot, filePart(`${number}.txt`)])
    assert.equal(status, 200, text)
  }
})

for (const fate of ['dies', 'freezes'] as const) {
  it(`a server moves to the promoted standby when the primary ${fate}, and loses nothing acknowledged`, {
    timeout: 180_000,
  }, async (t) => {
    const postgres = await findReplicated()
    if (typeof postgres === 'string') return t.skip(postgres)
    await using stack = new AsyncDisposableStack()
    const server = await startReplicated(stack, postgres)
    const user = await server.signUp()
    const library = await user.createLibrary('Replicated')
    const link = await uploadLink(user, library)
    const acknowledged = new Set<string>()
    const sent = new Set<string>()
    const state = { isOver: false }
    const write = async (writer: number) => {
      for (let number = 0; !state.isOver; number++) {
        const name = `${writer}-${number}.txt`
        sent.add(name)
        const { status, text } = await postForm(link, [intoRoot, filePart(name)])
        if (status === 200) acknowledged.add(name)
        else assert.ok(status === 503 || status === 504, text)
      }
    }
    const writing = [1, 2, 3].map(write)
    await eventually(async () => assert.ok(acknowledged.size >= 10))
    if (fate === 'dies') await postgres.killPrimary()
    else postgres.freezePrimary()
    // Its processes would otherwise not end.
    stack.defer(() => (fate === 'dies' ? Promise.resolve() : postgres.killPrimary()))
    await postgres.promote()
    const before = acknowledged.size
    await eventually(async () => assert.ok(acknowledged.size >= before + 10))
    state.isOver = true
    await Promise.all(writing)
    const names = await namesIn(user, library)
    assert.equal(new Set(names).size, names.length)
    assert.deepEqual(
      [...acknowledged].filter((name) => !names.includes(name)),
      [],
    )
    assert.deepEqual(
      names.filter((name) => !sent.has(name)),
      [],
    )
  })
}
