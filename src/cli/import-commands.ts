import type { Command } from 'commander'
import { configFrom, withSettings } from './config-flags.ts'

interface SeafileFlags {
  readonly data: string
  readonly to?: string
  readonly sql?: string
  readonly sqlite?: string
  readonly owner?: string
  readonly library?: string[]
  readonly copy?: true
  readonly dryRun?: true
  readonly json?: true
}

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
      .option('--sqlite <folder>', 'the folder with its SQLite databases'),
    ['database', 'blocks'],
  )
    .option('--owner <email>', 'the account that gets libraries whose owner is not known')
    .option('--library <id...>', 'only these libraries')
    .option('--copy', 'copy blocks even where the file system can share their bytes')
    .option('--dry-run', 'say what would come over and what would not, and change nothing')
    .option('--json', 'print one JSON document')
    .action(async (options: SeafileFlags) => {
      const { data: _source, to, ...settings } = options
      const config = configFrom(to === undefined ? settings : { ...settings, data: to })
      const { importSeafileCommand } = await import('./import-seafile.ts')
      end(await importSeafileCommand(config, options))
    })
}
