import type { DatabaseSetting } from '../../src/platform/database/open.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { notes } from './notes-schema.ts'

// Migrates a database and is killed in the middle of the step, after it has changed rows and tables.

const setting = JSON.parse(process.argv[2] ?? '') as DatabaseSetting
await openDatabase(setting, {
  onFatal: () => {},
  backupDirectory: process.argv[3],
  migrations: [
    notes,
    {
      version: 2,
      name: 'killed',
      async up(tx) {
        await tx.run('alter table note add column title text')
        await tx.run("update note set text = 'half migrated'")
        await tx.run('drop table remark')
        process.kill(process.pid, 'SIGKILL')
        await new Promise(() => {})
      },
    },
  ],
})
