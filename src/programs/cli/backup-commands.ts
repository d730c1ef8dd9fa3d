import type { Command } from 'commander'
import { CommandError } from './command-error.ts'
import { configFrom, withSettings } from './config-flags.ts'

const TARGET_SETTINGS = [
  'backup-passphrase-file',
  'backup-s3-endpoint',
  'backup-s3-region',
  'backup-s3-access-key',
  'backup-s3-secret-key',
  'backup-s3-session-token',
  'backup-s3-sse',
]
const KEEP_SETTINGS = [
  'backup-keep',
  'backup-keep-last',
  'backup-keep-daily',
  'backup-keep-weekly',
  'backup-keep-monthly',
]
const JSON_FLAG = ['--json', 'print one JSON document'] as const

type End = (exitCode: number) => void

/** `carrel backup` and `carrel restore`. */
export function addBackupCommands(program: Command, end: End): void {
  const backup = withSettings(
    program
      .command('backup')
      .description('back up the server to a folder or s3://bucket/prefix, also while it runs')
      .argument('[target]', 'folder or s3:// URL; CARREL_BACKUP_TARGET unless named'),
    ['data', 'database', 'blocks', 'disk', 'secret', 'backup-target', ...TARGET_SETTINGS],
  )
    .option(...JSON_FLAG)
    .action(async (target: string | undefined, options: { json?: true }) => {
      const config = configFrom(options)
      const commands = await import('./backup.ts')
      end(await commands.backup(config, targetOf(target, config), options.json === true))
    })
  addListings(backup)
  addTargetCommands(backup, end)
  addRestoreCommand(program, end)
}

/** Lists what is in a target. */
function addListings(backup: Command): void {
  withSettings(
    backup
      .command('list')
      .description('list the snapshots of a target')
      .argument('[target]', 'the target that carrel backup wrote'),
    TARGET_SETTINGS,
  )
    .option(...JSON_FLAG)
    .action(async (target: string | undefined, _options: object, command: Command) => {
      const options = command.optsWithGlobals<{ json?: true }>()
      const config = configFrom(options)
      const commands = await import('./backup.ts')
      await commands.listBackups(config, targetOf(target, config), options.json === true)
    })
  withSettings(
    backup
      .command('libraries')
      .description('list the libraries of a snapshot')
      .argument('[target]', 'the target that carrel backup wrote'),
    TARGET_SETTINGS,
  )
    .option('--snapshot <id>', 'the snapshot, or the beginning of its id', 'latest')
    .option(...JSON_FLAG)
    .action(async (target: string | undefined, _options: object, command: Command) => {
      const options = command.optsWithGlobals<{ json?: true; snapshot: string }>()
      const config = configFrom(options)
      const commands = await import('./restore.ts')
      const flags = { json: options.json === true, snapshot: options.snapshot }
      await commands.listLibrariesIn(config, targetOf(target, config), flags)
    })
  withSettings(
    backup
      .command('files')
      .description('list the files in a folder of a library of a snapshot')
      .argument('[target]', 'the target that carrel backup wrote'),
    TARGET_SETTINGS,
  )
    .option('--snapshot <id>', 'the snapshot, or the beginning of its id', 'latest')
    .requiredOption('--library <id>', 'the library')
    .option('--path <path>', 'the folder', '/')
    .option(...JSON_FLAG)
    .action(async (target: string | undefined, _options: object, command: Command) => {
      const options = command.optsWithGlobals<{
        json?: true
        snapshot: string
        library: string
        path: string
      }>()
      const config = configFrom(options)
      const commands = await import('./restore-path.ts')
      await commands.listFilesIn(config, targetOf(target, config), {
        ...options,
        json: options.json === true,
      })
    })
}

/** Verifies and prunes a target. */
function addTargetCommands(backup: Command, end: End): void {
  withSettings(
    backup
      .command('verify')
      .description('see that everything the snapshots need is in the target')
      .argument('[target]', 'the target that carrel backup wrote'),
    ['data', 'database', ...TARGET_SETTINGS],
  )
    .option('--read-data', 'read and hash every byte')
    .option(...JSON_FLAG)
    .action(async (target: string | undefined, _options: object, command: Command) => {
      const options = command.optsWithGlobals<{ json?: true; readData?: true }>()
      const config = configFrom(options)
      const commands = await import('./backup.ts')
      const flags = { json: options.json === true, readData: options.readData === true }
      end(await commands.verify(config, targetOf(target, config), flags))
    })
  withSettings(
    backup
      .command('prune')
      .description('remove old snapshots and what only they needed')
      .argument('[target]', 'the target that carrel backup wrote'),
    [...TARGET_SETTINGS, ...KEEP_SETTINGS],
  )
    .option('--dry-run', 'say what would be removed')
    .option(...JSON_FLAG)
    .action(async (target: string | undefined, _options: object, command: Command) => {
      const options = command.optsWithGlobals<{ json?: true; dryRun?: true }>()
      const config = configFrom(options)
      const commands = await import('./backup.ts')
      const flags = { json: options.json === true, dryRun: options.dryRun === true }
      await commands.pruneTarget(config, targetOf(target, config), flags)
    })
}

function addRestoreCommand(program: Command, end: End): void {
  withSettings(
    program
      .command('restore')
      .description(
        'restore a whole server into an empty data folder, libraries or files into an existing server, or a path of a library as its user',
      )
      .argument(
        '[target]',
        'the target that carrel backup wrote; CARREL_BACKUP_TARGET unless named. Or LIBRARY:/path on the server of carrel login',
      ),
    ['data', 'database', 'blocks', 'disk', ...TARGET_SETTINGS],
  )
    .option('--snapshot <id>', 'the snapshot to restore, or the beginning of its id', 'latest')
    .option('--library <id>', 'restore this library only, into an existing server')
    .option('--account <email>', 'restore the libraries of this account only, into an existing server')
    .option('--owner <email>', 'the account that gets them, unless it is the one in the backup')
    .option('--path <path>', 'restore only this file or folder of --library, with one commit')
    .option('--to-library <id>', 'the library that gets it, unless it is the one in the backup')
    .option('--to-folder <path>', 'the folder that gets it, unless it is the one in the backup')
    .option('--replace', 'replace what has its name now; otherwise it gets a free name')
    .option('--at <state>', 'for LIBRARY:/path: a commit id or a time; without it, it comes from the trash')
    .option('--server <url>', 'for LIBRARY:/path: the server, if it is not the one of the last sign-in')
    .option(...JSON_FLAG)
    .action(async (target: string | undefined, options: RestoreFlags) => {
      // A folder of that name is written as ./NAME:/path.
      if (target !== undefined && /^[^/\\.][^/\\]*:(?:$|\/(?!\/))/.test(target)) {
        const { restore } = await import('../../../packages/client/index.ts')
        return end(await restore(target, options))
      }
      const config = configFrom(options)
      const commands = await import('./restore.ts')
      const flags = { ...options, json: options.json === true }
      const { path, library } = options
      refuseContradictions(options)
      if (path !== undefined && library !== undefined) {
        const { restorePath } = await import('./restore-path.ts')
        end(await restorePath(config, targetOf(target, config), { ...flags, path, library }))
        return
      }
      const isPartial = library !== undefined || options.account !== undefined
      const run = isPartial ? commands.restoreLibraries : commands.restore
      end(await run(config, targetOf(target, config), flags))
    })
}

interface RestoreFlags {
  readonly json?: true
  readonly snapshot: string
  readonly library?: string
  readonly account?: string
  readonly owner?: string
  readonly path?: string
  readonly toLibrary?: string
  readonly toFolder?: string
  readonly replace?: true
  readonly at?: string
  readonly server?: string
}

/** Flags that would be ignored are refused: a forgotten --library must not restore a whole server. */
function refuseContradictions({
  library,
  account,
  owner,
  path,
  toLibrary,
  toFolder,
  replace,
  at,
  server,
}: RestoreFlags): void {
  const refuse = (message: string) => {
    throw new CommandError(message, { exitCode: 2 })
  }
  if (at !== undefined || server !== undefined)
    refuse('Leave out --at and --server: they are for LIBRARY:/path on a server.')
  const forPath = toLibrary !== undefined || toFolder !== undefined || replace === true
  if (path === undefined && forPath)
    refuse('Give --path as well: --to-library, --to-folder and --replace are for one file or folder.')
  if (path !== undefined && library === undefined)
    refuse('Give --library as well: the library that --path is in.')
  if (path !== undefined && (account !== undefined || owner !== undefined))
    refuse('Leave out --account and --owner: --path goes to the library itself, or to --to-library.')
  if (owner !== undefined && library === undefined && account === undefined)
    refuse('Give --library or --account as well: --owner is for restored libraries.')
}

function targetOf(target: string | undefined, config: { backup: { target: string | undefined } }): string {
  const named = target ?? config.backup.target
  if (named !== undefined) return named
  throw new CommandError('Name the target: a folder, or s3://bucket/prefix.', { exitCode: 2 })
}
