import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { readDump } from './mysql-dump.ts'
import { ImportError } from './problems.ts'
import type { SourceRows } from './source-rows.ts'

/** The names that the setup script of the source suggests. */
const DATABASES = 'ccnet_db,seafile_db,seahub_db'
/** The dump programs of MariaDB and of MySQL. Either reads both servers. */
const PROGRAMS = ['mariadb-dump', 'mysqldump']
const MAX_MESSAGE = 1000

/**
 * Reads the rows of a MySQL or MariaDB server through its dump program: `mysql://user:password@host:port/ccnet_db,seafile_db,seahub_db`. One
 * transaction reads all databases, so that rows of different tables fit together. Without a password in the URL, the program takes it from
 * MYSQL_PWD or from its own settings. Throws ImportError.
 */
export async function readMysqlServer(text: string, rows: SourceRows): Promise<void> {
  const { args, env, host } = connectionOf(text)
  const child = await startDump(args, env)
  let message = ''
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    message = (message + part).slice(-MAX_MESSAGE)
  })
  const closed = once(child, 'close')
  try {
    await readDump(child.stdout, `The dump of ${host}`, rows)
  } catch (error) {
    child.kill('SIGTERM')
    await closed
    throw error
  }
  const [code] = await closed
  if (code !== 0)
    throw new ImportError(
      `The databases of ${host} cannot be read: ${message.trim() || `exit code ${code}`}.`,
    )
}

/** The password is passed in the environment, because arguments are visible to other accounts. */
function connectionOf(text: string): { args: string[]; env: NodeJS.ProcessEnv; host: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['mysql:', 'mariadb:'].includes(url.protocol) || url.hostname === '') {
    throw new ImportError('Name the databases as in mysql://user@host/ccnet_db,seafile_db,seahub_db.')
  }
  const names = (decodeURIComponent(url.pathname.slice(1)) || DATABASES).split(',')
  if (names.some((name) => name === '' || name.startsWith('-'))) {
    throw new ImportError('Separate the names of the databases by single commas.')
  }
  const args = [
    `--host=${url.hostname.replace(/^\[(.*)\]$/, '$1')}`,
    `--port=${url.port || 3306}`,
    '--protocol=tcp',
    ...(url.username === '' ? [] : [`--user=${decodeURIComponent(url.username)}`]),
    '--single-transaction',
    '--no-tablespaces',
    '--skip-triggers',
    '--default-character-set=utf8mb4',
    '--databases',
    ...names,
  ]
  const password = decodeURIComponent(url.password)
  return {
    args,
    env: password === '' ? process.env : { ...process.env, MYSQL_PWD: password },
    host: url.host,
  }
}

async function startDump(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ChildProcessByStdio<null, Readable, Readable>> {
  for (const program of PROGRAMS) {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    try {
      await once(child, 'spawn')
      return child
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new ImportError(
    `Reading a MySQL server needs ${PROGRAMS.join(' or ')}: install the client programs of MariaDB or MySQL, or name a dump with --sql.`,
  )
}
