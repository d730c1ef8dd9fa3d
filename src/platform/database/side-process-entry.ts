import type { Reader, Row, Value } from './database.ts'
import type { DatabaseSetting } from './open.ts'
import type { SideResult, SideTask } from './side-process.ts'
import { Connection } from './sqlite/connection.ts'

/** Called by a module that Database.runInSideProcess starts, with the job to run. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The module knows the type of its input.
export function serveSideProcess<Input>(run: (reader: Reader, input: Input) => Promise<unknown>): void {
  // The server ends this process: a terminal signals all its processes, and a killed server disconnects.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('disconnect', () => process.exit())
  process.once('message', ({ setting, input }: SideTask) => {
    const perform = async (): Promise<SideResult> => {
      try {
        await using reader = await openReader(setting)
        return { result: await run(reader, input as Input) }
      } catch (error) {
        return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
      }
    }
    void perform().then((reply) => process.send?.(reply))
  })
}

const busyTimeoutMs = 5000
// A page cache of 2 MiB. Such a reader scans most pages once, so a larger cache would only take memory.
const settings = 'pragma cache_size = -2048; pragma case_sensitive_like = on'

/** Opens one read-only connection. The schema is neither checked nor migrated. */
async function openReader(setting: DatabaseSetting): Promise<Reader & AsyncDisposable> {
  if (setting.kind === 'sqlite') return new SqliteReader(setting.file)
  const { connectPostgres } = await import('./postgres/postgres-database.ts')
  return connectPostgres({ url: setting.url, poolSize: 1, onFatal: () => {} })
}

class SqliteReader implements Reader, AsyncDisposable {
  readonly #connection: Connection

  constructor(file: string) {
    this.#connection = new Connection(file, busyTimeoutMs, { readOnly: true })
    this.#connection.exec(settings)
  }

  async all<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R[]> {
    return this.#connection.all(sql, parameters) as R[]
  }

  async get<R extends object = Row>(sql: string, ...parameters: Value[]): Promise<R | undefined> {
    return this.#connection.get(sql, parameters) as R | undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.close()
  }
}
