import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { type ChildServer, spawnServer } from './child-server.ts'
import { startPostgres } from './postgres.ts'
import { startServer, type TestServer } from './server.ts'

/** Two server processes over one database and one data folder. */
export interface TwoServers extends AsyncDisposable {
  /** In this process. */
  readonly here: TestServer
  /** In a child process, so that no memory is shared. */
  readonly there: ChildServer
}

/** On SQLite, or with CARREL_TEST_DATABASE=postgres on a fresh PostgreSQL database. */
export async function startTwoServers(settings: Record<string, string> = {}): Promise<TwoServers> {
  await using opened = new AsyncDisposableStack()
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-two-'))
  opened.defer(() => rm(data, { recursive: true, force: true }))
  const onPostgres = process.env['CARREL_TEST_DATABASE'] === 'postgres'
  const postgres = onPostgres ? opened.use(await startPostgres()) : undefined
  const env = { ...settings, ...(postgres && { CARREL_DATABASE: await postgres.createWithSchema() }) }
  const here = opened.use(await startServer({ data, env, sharesDataFolder: true }))
  const there = opened.use(await spawnServer(data, env))
  const kept = opened.move()
  return { here, there, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}
