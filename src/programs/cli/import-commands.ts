import type { Command } from 'commander'
import type { ImportOptions, WebdavImportOptions } from '../../../packages/client/index.ts'
import { configFrom, withSettings } from './config-flags.ts'
import type { SeafileImportOptions } from './import-seafile.ts'

/** `carrel import`, which brings libraries of other servers here. */
export function addImportCommands(program: Command, end: (exitCode: number) => void): void {
  const command = program.command('import').description('bring over libraries from elsewhere')
  withSettings(
    command
      .command('seafile')
      .description(
        'import the libraries of a Seafile server with their history, beside a running server or without one; the source is only read',
      )
      .requiredOption('--data <folder>', 'the data folder of the Seafile server, usually called seafile-data')
      .option('--to <folder>', 'the data folder of this server (CARREL_DATA; default: ./data)')
      .option(
        '--sql <dump>',
        'a dump of its MySQL databases ccnet, seafile and seahub, plain or compressed with gzip',
      )
      .option(
        '--mysql <url>',
        'its MySQL or MariaDB server, such as mysql://user@host/ccnet_db,seafile_db,seahub_db; the password can be in MYSQL_PWD',
      )
      .option('--sqlite <folder>', 'the folder with its SQLite databases'),
    ['database', 'blocks'],
  )
    .option('--owner <email>', 'the account that gets libraries whose owner is not known')
    .option('--library <id...>', 'only these libraries')
    .option('--copy', 'copy blocks even where the file system can share their bytes')
    .option('--dry-run', 'say what would come over and what would not, and change nothing')
    .option('--json', 'print one JSON document')
    .action(async (options: SeafileImportOptions & { readonly to?: string }) => {
      const { data: _source, to, ...settings } = options
      const config = configFrom(to === undefined ? settings : { ...settings, data: to })
      const { importSeafileCommand } = await import('./import-seafile.ts')
      end(await importSeafileCommand(config, options))
    })

  // These are commands of the client: they sign in at a server and need no data folder.
  const client = () => import('../../../packages/client/index.ts')
  const clientCommand = (name: string, source: readonly [string, string], description: string) =>
    command
      .command(name)
      .description(`${description}; files that are there with the same size and time are skipped`)
      .argument(...source)
      .argument('<target>', 'LIBRARY:/path on the server of carrel login')
      .option('--create', 'create the library if there is none of this name')
      .option('--dry-run', 'say what would be imported, and change nothing')
      .option('--parallel <number>', 'transfers at a time', '4')
      .option('-q, --quiet', 'no progress bar and no summary')
      .option('--server <url>', 'the server, if it is not the one of the last sign-in')
      .option('--json', 'print JSON')
  clientCommand('dir', ['<folder>', 'a local folder'], 'import the content of a folder').action(
    async (folder: string, target: string, options: ImportOptions) =>
      end(await (await client()).importDir(folder, target, options)),
  )
  clientCommand(
    'webdav',
    ['<url>', 'a folder of a WebDAV server'],
    'import from Nextcloud, ownCloud, OpenCloud or another WebDAV server',
  )
    .option(
      '--user <name>',
      'the user at the WebDAV server; the password is read from a prompt or from standard input',
    )
    .action(async (url: string, target: string, options: WebdavImportOptions) =>
      end(await (await client()).importWebdav(url, target, options)),
    )
  clientCommand(
    'rclone',
    ['<remote>', 'remote:path, as rclone calls it'],
    'import from any storage that rclone knows',
  ).action(async (remote: string, target: string, options: ImportOptions) =>
    end(await (await client()).importRclone(remote, target, options)),
  )
}
