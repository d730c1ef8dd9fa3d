import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Nodes } from '../support/nodes.ts'
import { PostgresUnavailable } from '../support/postgres.ts'
import { ReplicatedPostgres } from '../support/replicated-postgres.ts'
import { eventually, filePart, intoRoot, namesIn, postForm, uploadLink } from '../support/transfer.ts'

async function findReplicated(): Promise<ReplicatedPostgres | string> {
  try {
    return await ReplicatedPostgres.create()
  } catch (error) {
    if (!(error instanceof PostgresUnavailable) || process.env['CI'] === 'true') throw error
    return error.message
  }
}

it('a server moves to the promoted standby when the primary dies, and loses nothing acknowledged', {
  timeout: 180_000,
}, async (t) => {
  const postgres = await findReplicated()
  if (typeof postgres === 'string') return t.skip(postgres)
  await using stack = new AsyncDisposableStack()
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
  const server = await nodes.start()
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
  await postgres.killPrimary()
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
