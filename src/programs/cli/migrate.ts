import type { Command } from 'commander'
import { configFrom, withSettings } from './config-flags.ts'

interface MigrateFlags {
  readonly json?: true
  readonly database?: string
  readonly blocks?: string
  readonly from?: string
  readonly cancel?: true
  readonly deleteOld?: true
}

/** `carrel migrate`, which moves the blocks to another store or the rows to another database. */
export function addMigrateCommand(program: Command, end: (exitCode: number) => void): void {
  withSettings(
    program
      .command('migrate')
      .description(
        'move the blocks to another store, beside a running server; --blocks names the new one. Or move the rows to another database while the server is stopped; --database names the new one',
      ),
    ['data', 'database', 'blocks', 'block-cache-mb', 'unsafe-storage'],
  )
    .option('--delete-old', 'delete the blocks of the old store, once the server uses the new one')
    .option('--from <database>', 'the database to move, if it is not the one of the settings')
    .option('--cancel', 'end a move to another database, and use the one of the settings again')
    .option('--json', 'print one JSON document')
    .action(async (options: MigrateFlags) => {
      const config = configFrom(options)
      const json = options.json === true
      const source = configFrom({ ...options, database: options.from })
      const isSame = JSON.stringify(source.database) === JSON.stringify(config.database)
      const movesBlocks = options.blocks !== undefined || options.deleteOld === true
      if (options.cancel !== true && (movesBlocks || (isSame && options.from === undefined))) {
        const { migrateBlocks } = await import('./migrate-blocks.ts')
        end(await migrateBlocks(config, { json, deleteOld: options.deleteOld === true }))
        return
      }
      const { cancelDatabaseMove, migrateDatabase } = await import('./migrate-database.ts')
      if (options.cancel === true) end(await cancelDatabaseMove(config, { json }))
      else end(await migrateDatabase(source, config.database, { json }))
    })
}
