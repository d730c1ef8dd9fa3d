import assert from 'node:assert/strict'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { FaultInjector } from '../support/fault-injection.ts'
import { ADMIN, startServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { uploadFile } from '../support/transfer.ts'
import { hashOf } from '../support/workload.ts'
import { backupTarget, restoredServer } from './backup-scenarios.ts'
import type { Subject } from './check-worker.ts'
import type { Expectation } from './expectation.ts'
import { editFiles, Load, pushTrees, type Request } from './load.ts'
import { compareWithDisk, listPresent, type Present, type Recorded, Recording } from './recording.ts'

/** What was recorded of the servers of one data folder. */
export interface RecordedScenario {
  readonly name: string
  /** Settings of the servers that are started on the states. */
  readonly env: Record<string, string>
  readonly present: readonly Present[]
  readonly records: readonly Recorded[]
  readonly requests: readonly Request[]
  /** What the states are compared with, by the marks before the power failure. Without it, what the requests say. */
  readonly subject?: (marks: ReadonlySet<string>) => Subject
  /** A folder that the checks need and that is removed after them. */
  readonly keep?: string
}

export interface Scenario {
  readonly name: string
  /** Its share of the states. */
  readonly share: number
  record(seed: number): Promise<RecordedScenario>
}

const WRITERS = 6

const FIXTURES = path.join(import.meta.dirname, '../fixtures/earlier-data')
/** When the fixtures were written: API tokens have not been idle for long. */
const THEN = 1_794_790_000

export const scenarios: readonly Scenario[] = [
  edits('fast', 0.35),
  edits('plain', 0.2),
  failedSync(0.15),
  ...globSync('schema-1[0-3]', { cwd: FIXTURES }).map((name, _, all) => migration(name, 0.15 / all.length)),
  backupTarget(0.1),
  restoredServer(0.05),
]

/** Writers, a pushing client, a regular stop, a kill and two more starts. */
function edits(disk: 'fast' | 'plain', share: number): Scenario {
  const name = `edits, ${disk} disk store`
  return {
    name,
    share,
    async record(seed) {
      const env = { CARREL_DISK: disk, CARREL_GC_GRACE_SECONDS: '0' }
      const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-crash-'))
      try {
        const present = await listPresent(data)
        await using injector = await FaultInjector.create(data)
        const recording = new Recording(injector)
        const load = new Load(recording)
        let account: Account | undefined
        for (const [phase, requests] of [30, 14, 8].entries()) {
          await using server = await spawnServer(data, { ...recording.env, ...env })
          account ??= await createAccount(server.url, recording)
          const { token, library, pushed } = account
          const client = new Client(server.url, token)
          const parts = { load, client, requests }
          await Promise.all([
            ...Array.from({ length: WRITERS }, (_, n) => {
              const writer = `w${phase}${n}`
              return editFiles({ ...parts, library, writer, seed: seed * 1000 + phase * 100 + n })
            }),
            ...(phase === 1 ? maintain(data, { ...recording.env, ...env }, load, account.unchanged) : []),
            pushTrees({
              ...parts,
              library: pushed,
              writer: 'p',
              seed: seed + phase,
              requests: phase === 0 ? 12 : 0,
            }),
          ])
          if (phase === 0) assert.equal(await server.stop(), 0)
          else await injector.killBetweenCalls(server)
        }
        const records = recording.read()
        await compareWithDisk(data, present, records)
        return { name, env, present, records, requests: load.requests }
      } finally {
        await rm(data, { recursive: true, force: true })
      }
    },
  }
}

/** A failed sync of the log of SQLite, which ends the server; then a start on what readers still see. */
function failedSync(share: number): Scenario {
  const name = 'failed sync of the log'
  return {
    name,
    share,
    async record(seed) {
      const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-crash-'))
      try {
        const present = await listPresent(data)
        await using injector = await FaultInjector.create(data)
        const recording = new Recording(injector)
        const load = new Load(recording)
        let account: Account | undefined
        for (const phase of [0, 1, 2]) {
          await using server = await spawnServer(data, { ...recording.env, CARREL_LOG: 'silent' })
          account ??= await createAccount(server.url, recording)
          const { token, library } = account
          const client = new Client(server.url, token)
          const isLast = phase === 2
          using _fault = injector.inject({
            operations: ['sync'],
            path: 'carrel.db-wal',
            effect: 'EIO',
            skip: 8,
            count: isLast ? 0 : 1,
          })
          const writers = Array.from({ length: WRITERS }, (_, n) =>
            editFiles({
              load,
              client,
              library,
              writer: `f${phase}${n}`,
              seed: seed * 1000 + n,
              requests: 10,
            }),
          )
          // A writer stops at the first request that is refused or not answered.
          if (isLast) await Promise.all(writers)
          else await Promise.allSettled(writers)
          await injector.killBetweenCalls(server)
        }
        const records = recording.read()
        await compareWithDisk(data, present, records)
        return { name, env: {}, present, records, requests: load.requests }
      } finally {
        await rm(data, { recursive: true, force: true })
      }
    },
  }
}

/** Garbage collections, a backup, and the restore of a library beside the writers. */
function maintain(
  data: string,
  env: Record<string, string>,
  load: Load,
  { library, files }: UnchangedLibrary,
): Promise<void>[] {
  const target = mkdtempSync(path.join(os.tmpdir(), 'carrel-crash-backup-'))
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await carrel(args, { env: { ...env, CARREL_DATA: data } })
    assert.equal(code, 0, stderr)
    return stdout
  }
  const collect = async () => {
    for (const _ of [1, 2]) await run('gc')
  }
  const backUp = async () => {
    await run('backup', target)
    const { libraries } = JSON.parse(await run('restore', target, '--library', library, '--json'))
    // Its id is known once the restore has ended, so it was sent and acknowledged at that time.
    await load.request({ writer: 'r', library: libraries[0].id, changes: files }, async () => {})
    await rm(target, { recursive: true, force: true })
  }
  return [collect(), backUp()]
}

/** A library that nobody edits. Its files are named `r-` and so on. */
interface UnchangedLibrary {
  readonly library: string
  readonly files: Readonly<Record<string, string>>
}

interface Account {
  readonly token: string
  readonly library: string
  readonly pushed: string
  readonly unchanged: UnchangedLibrary
}

async function createAccount(url: string, recording: Recording): Promise<Account> {
  const { token = '' } = await Client.signIn(url, ADMIN.email, ADMIN.password)
  recording.mark(`token ${token}`)
  const client = new Client(url, token)
  return {
    token,
    library: await client.createLibrary('Edited'),
    pushed: await client.createLibrary('Pushed'),
    unchanged: await createUnchanged(client),
  }
}

async function createUnchanged(client: Client): Promise<UnchangedLibrary> {
  const library = await client.createLibrary('Unchanged')
  const files: Record<string, string> = {}
  for (const size of [100, 20_000, 150_000]) {
    const bytes = Buffer.alloc(size, `unchanged ${size} `)
    await uploadFile(client, library, `/r-${size}`, bytes)
    files[`r-${size}`] = hashOf(bytes)
  }
  return { library, files }
}

/** The first start of the current version on a data folder of an earlier one. */
function migration(fixture: string, share: number): Scenario {
  const name = `migration of ${fixture}`
  return {
    name,
    share,
    async record() {
      const env = { CARREL_SECRET: 'a secret for the fixture' }
      const [data, copy] = await Promise.all([unpack(fixture), unpack(fixture)])
      try {
        const expected = await filesOf(copy, env)
        const present = await listPresent(data)
        await using injector = await FaultInjector.create(data)
        const recording = new Recording(injector)
        await using server = await spawnServer(data, { ...recording.env, ...env })
        await injector.killBetweenCalls(server)
        const records = recording.read()
        await compareWithDisk(data, present, records)
        return { name, env, present, records, requests: [], subject: () => ({ kind: 'server', expected }) }
      } finally {
        for (const folder of [data, copy]) await rm(folder, { recursive: true, force: true })
      }
    },
  }
}

async function filesOf(data: string, env: Record<string, string>): Promise<Expectation> {
  const manifest = JSON.parse(readFileSync(path.join(data, 'manifest.json'), 'utf8'))
  const library = String(manifest.library)
  const token = String(manifest.tokens.ann)
  await using server = await startServer({ data, env, now: () => THEN })
  const sync = await SyncClient.link(new Client(server.url, token), library)
  const files: Record<string, string> = {}
  for (const [file, bytes] of await sync.clone()) if (bytes !== null) files[file.slice(1)] = hashOf(bytes)
  assert.ok(Object.keys(files).length > 0)
  return { token, now: THEN, partial: [], writers: [{ library, prefix: '', files, unanswered: undefined }] }
}

export async function unpack(fixture: string): Promise<string> {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-crash-'))
  const from = path.join(FIXTURES, fixture)
  cpSync(path.join(from, 'manifest.json'), path.join(data, 'manifest.json'))
  for (const file of globSync('**/*.gz', { cwd: from })) {
    const to = path.join(data, file.slice(0, -'.gz'.length))
    mkdirSync(path.dirname(to), { recursive: true })
    writeFileSync(to, gunzipSync(readFileSync(path.join(from, file))))
  }
  return data
}
