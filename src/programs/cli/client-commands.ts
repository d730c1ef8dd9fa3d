import { Argument, type Command, Option } from 'commander'
import type {
  CatOptions,
  CommonOptions,
  CopyOptions,
  DiffOptions,
  FindOptions,
  ListOptions,
  LoginOptions,
  LogOptions,
  SearchOptions,
  ShareOptions,
  Shell,
  SyncOptions,
} from '../../../packages/client/index.ts'
import type { ConformanceOptions } from '../../../packages/conformance/index.ts'
import type { McpOptions } from '../../../packages/mcp/index.ts'

/** Loaded by the commands only, so that a server does not load a client. */
const client = () => import('../../../packages/client/index.ts')

const REMOTE = 'LIBRARY:/path'
const AT: readonly [string, string] = [
  '--at <state>',
  'an earlier state: a commit id, or a time such as 2026-11-01T12:00:00Z',
]

type End = (exitCode: number) => void
/** Declares a command with the options that all of them have. */
type Declare = (name: string, description: string) => Command

/** The commands of the client, which call any server with this API. */
export function addClientCommands(program: Command, end: End): void {
  const declare: Declare = (name, description) =>
    program
      .command(name)
      .description(description)
      .helpGroup('Client:')
      .option('--server <url>', 'the server, if it is not the one of the last sign-in')
      .option('--json', 'print JSON')

  addSignInCommands(declare, end)
  addFileCommands(declare, end)
  addLookupCommands(declare, end)
  addShareCommand(declare, end)
  addHistoryCommands(declare, end)
  addSyncCommand(declare, end)
  addToolCommands(program, end)
}

/** Signing in, and unlocking libraries. */
function addSignInCommands(command: Declare, end: End): void {
  command(
    'login',
    'sign in at a server, by a code in a browser if it offers that; secrets are read from a prompt or from standard input',
  )
    .argument('<url>', 'the server, for example https://files.example.org')
    .option('--device', 'sign in by a code that is confirmed in a browser, also without a terminal')
    .option('--user <email>', 'sign in to this account with its password')
    .option('--token', 'sign in with a token instead of a password')
    .option('--otp <code>', 'the one-time code of the second factor')
    .addOption(new Option('--store <where>', 'where the token is stored').choices(['file', 'os']))
    .action(async (url: string, options: LoginOptions) => end(await (await client()).login(url, options)))
  command('logout', 'revoke the token of the sign-in and forget it').action(async (options: CommonOptions) =>
    end(await (await client()).logout(options)),
  )
  command('unlock', 'unlock an encrypted library for an hour')
    .argument('<library>', 'its name or id')
    .action(async (library: string, options: CommonOptions) =>
      end(await (await client()).unlock(library, options)),
    )
}

/** Listing, copying, moving and deleting. */
function addFileCommands(command: Declare, end: End): void {
  command('ls', 'list libraries, or files and folders')
    .argument('[path]', `${REMOTE}, also with a pattern such as '*.txt'`)
    .option('-l, --long', 'with sizes and times')
    .option(...AT)
    .action(async (target: string | undefined, options: ListOptions) =>
      end(await (await client()).list(target, options)),
    )
  command('tree', 'draw everything below a folder')
    .argument('<path>', REMOTE)
    .option('--depth <levels>', 'at most so many levels')
    .action(async (target: string, options: CommonOptions & { depth?: string }) =>
      end(await (await client()).tree(target, options)),
    )
  command('cp', 'copy files from or to a server, or on it')
    .argument('<paths...>', `sources, then the target: local paths or ${REMOTE}`)
    .option('-r, --recursive', 'also folders')
    .option('-u, --update', 'skip files that are there with the same size and time')
    .option('-n, --no-clobber', 'skip files that are there')
    .option('-q, --quiet', 'no progress bar and no summary')
    .option('--parallel <number>', 'transfers at a time', '4')
    .action(
      async (
        paths: string[],
        options: Omit<CopyOptions, 'noClobber'> & { clobber: boolean },
        self: Command,
      ) => {
        const target = paths.pop()
        if (target === undefined || paths.length === 0)
          self.error('error: name at least one source and the target')
        const { clobber, ...rest } = options
        end(await (await client()).copy(paths, target, { ...rest, ...(!clobber && { noClobber: true }) }))
      },
    )
  command('mv', 'move or rename on the server')
    .argument('<paths...>', `sources, then the target: ${REMOTE}`)
    .action(async (paths: string[], options: CommonOptions, self: Command) => {
      const target = paths.pop()
      if (target === undefined || paths.length === 0)
        self.error('error: name at least one source and the target')
      end(await (await client()).move(paths, target, options))
    })
  command('rm', 'delete files on the server; they stay in the trash')
    .argument('<paths...>', REMOTE)
    .option('-r, --recursive', 'also folders')
    .option('--dry-run', 'say what would be deleted')
    .action(async (paths: string[], options: CommonOptions & { recursive?: true; dryRun?: true }) =>
      end(await (await client()).remove(paths, options)),
    )
  command('mkdir', 'create folders on the server, with their parents')
    .argument('<paths...>', REMOTE)
    .action(async (paths: string[], options: CommonOptions) =>
      end(await (await client()).makeFolders(paths, options)),
    )
}

/** Reading and finding. */
function addLookupCommands(command: Declare, end: End): void {
  command('cat', 'write files to standard output')
    .argument('<paths...>', REMOTE)
    .option('--range <first-last>', 'only these bytes')
    .option(...AT)
    .action(async (paths: string[], options: CatOptions) => end(await (await client()).cat(paths, options)))
  command('find', 'find files and folders below a folder')
    .argument('<path>', REMOTE)
    .option('--name <pattern>', "a name or pattern such as '*.txt'")
    .addOption(new Option('--type <kind>', 'files or folders').choices(['f', 'd']))
    .option('--larger <bytes>', 'larger than this')
    .option('--newer <time>', 'changed after this time')
    .action(async (target: string, options: FindOptions) => end(await (await client()).find(target, options)))
  command('search', 'search names and texts on the server')
    .argument('<text>', 'the words')
    .option('--in <path>', `only in ${REMOTE}`)
    .option('--names', 'names only')
    .option('--limit <number>', 'at most so many results', '100')
    .action(async (text: string, options: SearchOptions) => end(await (await client()).search(text, options)))
}

function addShareCommand(command: Declare, end: End): void {
  command('share', 'share a file or folder, create a link, or list both')
    .argument('<path>', REMOTE)
    .option('--with <email>', 'share with a user')
    .option('--group <id>', 'share with a group')
    .addOption(
      new Option('--permission <right>', 'read, or read and write').choices(['r', 'rw']).default('r'),
    )
    .option('--link', 'create a link')
    .option('--password', 'ask for a password of the link')
    .option('--days <number>', 'until so many days from now')
    .option('--end [token]', 'end the share with --with or --group, or delete the link with this token')
    .action(async (target: string, options: ShareOptions) =>
      end(await (await client()).share(target, options)),
    )
}

/** Commits, revisions and what they changed. */
function addHistoryCommands(command: Declare, end: End): void {
  command('log', 'list the commits of a library, or the revisions of a file')
    .argument('<path>', 'LIBRARY: or LIBRARY:/file')
    .option('-n, --limit <number>', 'at most so many', '20')
    .option('--changes', 'with the paths that each commit changed')
    .action(async (target: string, options: LogOptions) => end(await (await client()).log(target, options)))
  command('diff', 'compare two states of a text file or of a folder')
    .argument('<path>', REMOTE)
    .requiredOption('--from <state>', 'the earlier state: a commit id, or a time')
    .option('--to <state>', 'the later state; the current one unless named')
    .action(async (target: string, options: DiffOptions) => end(await (await client()).diff(target, options)))
}

function addSyncCommand(command: Declare, end: End): void {
  command('sync-once', 'bring a local folder and a folder of the server to the same state, once')
    .argument('<folder>', 'the local folder')
    .argument('<path>', REMOTE)
    .option('--dry-run', 'say what would be done')
    .option('--allow-deletes', 'also delete more than half of all files on one side')
    .option('-q, --quiet', 'no progress bar and no summary')
    .action(async (folder: string, target: string, options: SyncOptions) =>
      end(await (await client()).syncOnce(folder, target, options)),
    )
}

/** For models, for servers with the same API, and for shells. */
function addToolCommands(program: Command, end: End): void {
  program
    .command('mcp')
    .description('serve libraries to models over the Model Context Protocol, with a personal token')
    .helpGroup('Client:')
    .option('--server <url>', 'the server, if it is not the one of the last sign-in')
    .option('--read-only', 'only tools that change nothing')
    .option('--whole-account', 'also accept a token that is not limited')
    .option('--http', 'serve streamable HTTP; requests bring a personal token as Authorization: Bearer')
    .option('--host <address>', 'the address of --http', '127.0.0.1')
    .option('--port <number>', 'the port of --http', '8765')
    .option('--allow-host <names...>', 'further host names under which --http is reached')
    .action(async (options: McpOptions) => {
      // The SDK of the protocol is loaded by this command alone.
      const { serveMcp } = await import('../../../packages/mcp/index.ts')
      end(await serveMcp(options))
    })
  program
    .command('conformance')
    .description('try the statements of the documented API at a server, and report differences')
    .helpGroup('Client:')
    .argument('<url>', 'the server, for example https://files.example.org')
    .option('--user <email>', 'the account, whose password is read from a prompt or from standard input')
    .option('--token', 'read a token instead of a password')
    .option('--only <prefix>', 'only the statements whose id starts with this, such as 4.1/')
    .option('--max-upload <bytes>', 'the largest upload that the server accepts')
    .option('--json', 'print JSON')
    .action(async (url: string, options: ConformanceOptions) => {
      const { checkConformance } = await import('../../../packages/conformance/index.ts')
      end(await checkConformance(url, options))
    })
  program
    .command('completion')
    .description('print the completion script of a shell')
    .helpGroup('Client:')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => {
      process.stdout.write((await client()).completionScript(shell))
    })
  program
    .command('complete', { hidden: true })
    .argument('<line>', 'the command line up to the cursor')
    .action(async (line: string) => {
      const found = await candidates(program, line)
      process.stdout.write(found.map((one) => `${one}\n`).join(''))
    })
}

/** Words that can continue a command line: commands, options, then paths of the server. */
async function candidates(program: Command, line: string): Promise<string[]> {
  const words = line.trimStart().split(/\s+/)
  const current = words.at(-1) ?? ''
  const chosen = program.commands.find((command) => command.name() === words[1])
  if (words.length <= 2 || chosen === undefined) {
    const names = program.commands.map((command) => command.name()).filter((name) => name !== 'complete')
    return names.filter((name) => name.startsWith(current))
  }
  if (current.startsWith('-')) {
    return chosen.options.flatMap(({ long }) => (long?.startsWith(current) ? [long] : []))
  }
  return (await client()).completePath(current)
}
