import { availableParallelism } from 'node:os'
import { Argument, Command } from 'commander'
import { programVersion } from '../../base/version.ts'
import { addAccessCommands } from './access.ts'
import { addBackupCommands } from './backup-commands.ts'
import type { CheckFlags } from './check.ts'
import { addClientCommands } from './client-commands.ts'
import { configFrom, withSettings } from './config-flags.ts'
import type { ExportOptions } from './export.ts'
import { addImportCommands } from './import-commands.ts'
import { INDEX_NAMES, type IndexName } from './index-names.ts'
import { addMigrateCommand } from './migrate.ts'
import { addSecretCommands } from './secret-commands.ts'
import { addUserCommands } from './user.ts'

type End = (exitCode: number) => void

/** All commands. One that can fail without throwing passes its exit code to `end`. */
export function createProgram(end: End): Command {
  const program = new Command('carrel')
    .description('A self-hosted file library server.')
    .version(programVersion())
    .exitOverride()
    .showHelpAfterError('Add --help to see how this command is written.')

  addServeCommand(program, end)
  addUserCommands(program)
  addUsageCommand(program)
  addGcCommand(program, end)
  addMigrateCommand(program, end)
  addImportCommands(program, end)
  addExportCommand(program, end)
  addAccessCommands(program)
  addClockCommand(program, end)
  addSecretCommands(program)
  addBackupCommands(program, end)
  addDoctorCommand(program, end)
  addCheckCommand(program, end)
  addRepairCommand(program, end)
  addReindexCommand(program, end)
  addClientCommands(program, end)
  return program
}

function addServeCommand(program: Command, end: End): void {
  withSettings(program.command('serve').description('serve libraries until stopped by a signal'))
    .option('--json', 'print JSON lines, on a terminal too')
    .action(async (options: { json?: true }) => {
      const config = configFrom(options)
      const json = options.json === true
      const processes = config.processes === 'auto' ? availableParallelism() : config.processes
      if (processes > 1) {
        const { supervise } = await import('./supervise.ts')
        return end(await supervise(config, processes, { json }))
      }
      const { serve } = await import('./serve.ts')
      end(await serve(config, { json }))
    })
}

function addUsageCommand(program: Command): void {
  withSettings(program.command('usage').description('count what is stored, and what it is kept for'), [
    'data',
    'database',
    'history-days',
    'gc-grace-seconds',
  ])
    .option('--why <library>', 'say for one library what is kept and why it is not freed')
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: true; why?: string }) => {
      const config = configFrom(options)
      if (options.why !== undefined) {
        const { explainUsage } = await import('./usage-why.ts')
        return explainUsage(config, options.why, options.json === true)
      }
      const { usage } = await import('./usage.ts')
      return usage(config, options.json === true)
    })
}

function addGcCommand(program: Command, end: End): void {
  withSettings(
    program
      .command('gc')
      .description('delete what nothing refers to any more, beside a running server or without one'),
    ['data', 'database', 'blocks', 'gc-grace-seconds'],
  )
    .option('--dry-run', 'count what would be deleted, and change nothing')
    .option('--library <id>', 'collect only this library')
    .option('--compact', 'rewrite the SQLite files without free space; the server must be stopped')
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: true; dryRun?: true; library?: string; compact?: true }) => {
      const config = configFrom(options)
      const { collect, compact } = await import('./gc.ts')
      const json = options.json === true
      if (options.compact === true) return compact(config, { json })
      end(await collect(config, { json, dryRun: options.dryRun === true, library: options.library }))
    })
}

function addExportCommand(program: Command, end: End): void {
  withSettings(
    program
      .command('export')
      .description('write a library as plain files, beside a running server or without one')
      .argument('<library>', 'the id of the library')
      .argument('<folder>', 'where to write it'),
    ['data', 'database', 'blocks', 'history-days'],
  )
    .option('--at <state>', 'an earlier state: a time such as 2026-11-01T12:00:00Z, or a commit id')
    .option('--history', 'also as a git repository with one commit for each commit; needs git')
    .option('--password-file <file>', 'a file with the password of an encrypted library')
    .option('--json', 'print one JSON document')
    .action(async (library: string, folder: string, options: ExportOptions) => {
      const config = configFrom(options)
      const { exportCommand } = await import('./export.ts')
      end(await exportCommand(config, library, folder, options))
    })
}

function addClockCommand(program: Command, end: End): void {
  withSettings(
    program.command('clock').description('find times in the future, which a wrong clock has left behind'),
    ['data', 'database'],
  )
    .option('--repair', 'set them to the current time')
    .option('--confirm', 'say that the clock is right, after it jumped ahead')
    .option('--json', 'print one JSON document')
    .action(async (options: { repair?: true; confirm?: true; json?: true }) => {
      const config = configFrom(options)
      const { clock } = await import('./clock.ts')
      const { repair, confirm, json } = options
      end(await clock(config, { repair: repair === true, confirm: confirm === true, json: json === true }))
    })
}

function addDoctorCommand(program: Command, end: End): void {
  withSettings(program.command('doctor').description('look for what could keep a server from working'))
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: true }) => {
      const { doctor } = await import('./doctor.ts')
      end(await doctor(options))
    })
}

function addCheckCommand(program: Command, end: End): void {
  withSettings(
    program
      .command('check')
      .description(
        'check that everything stored is there and agrees, beside a running server or without one',
      ),
    ['data', 'database', 'blocks', 'history-days'],
  )
    .option('--read-data', 'also read all blocks and compare them with their ids')
    .option('--sample <percent>', 'read this percentage of the blocks, another part each time')
    .option('--rate <MB/s>', 'read blocks, at most so many megabytes per second')
    .option('--library <id>', 'only this library')
    .option('--json', 'print one JSON document')
    .action(async (options: CheckFlags) => {
      const config = configFrom(options)
      const { checkCommand } = await import('./check.ts')
      end(await checkCommand(config, options))
    })
}

function addRepairCommand(program: Command, end: End): void {
  withSettings(
    program
      .command('repair')
      .description('restore lost data from other copies, and rebuild what is derived; deletes nothing'),
    ['data', 'database', 'blocks', 'history-days', 'backup-passphrase-file'],
  )
    .option('--from <target>', 'a backup to restore lost data from')
    .option('--library <id>', 'only this library')
    .option('--dry-run', 'say what would be repaired')
    .option('--json', 'print one JSON document')
    .action(async (options: { from?: string; library?: string; dryRun?: true; json?: true }) => {
      const config = configFrom(options)
      const { repairCommand } = await import('./repair.ts')
      end(await repairCommand(config, options))
    })
}

function addReindexCommand(program: Command, end: End): void {
  withSettings(
    program
      .command('reindex')
      .description('make again what is derived from commits, beside a running server or without one')
      .addArgument(
        new Argument('[what...]', 'what to make again; all of it unless named').choices(INDEX_NAMES),
      ),
    ['data', 'database', 'blocks'],
  )
    .option('--json', 'print one JSON document')
    .action(async (what: IndexName[], options: { json?: true }) => {
      const config = configFrom(options)
      const { reindex } = await import('./reindex.ts')
      end(await reindex(config, what.length === 0 ? INDEX_NAMES : what, { json: options.json === true }))
    })
}
