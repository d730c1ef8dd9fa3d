import type { Dialect, Reader } from './database.ts'
import { NewerSchemaError } from './errors.ts'
import type { Migration } from './migrations/types.ts'

/**
 * What a step means for nodes of older versions. After `expand` they go on working. `contract` removes what they need, and is not needed by the program that
 * brings it, so it waits until there are none. `exclusive` is needed at once, and none of them can work after it.
 */
type StepKind = 'expand' | 'contract' | 'exclusive'

/** The steps of the schema that were applied to a database. */
export type AppliedSteps = ReadonlyMap<number, StepKind>

export function kindOf({ kind }: Migration): StepKind {
  return kind ?? 'exclusive'
}

/** Steps are looked up one by one: two branches of development may have released theirs in another order than their numbers. */
export async function listApplied(reader: Reader, dialect: Dialect): Promise<AppliedSteps> {
  const rows = (await hasKinds(reader, dialect))
    ? await reader.all<{ version: number; kind: StepKind | null }>(
        'select version, kind from schema_migration',
      )
    : await reader.all<{ version: number; kind?: never }>('select version from schema_migration')
  return new Map(rows.map(({ version, kind }) => [version, kind ?? 'exclusive']))
}

/** Whether the kinds of steps are stored. They are from schema version 45 on; a step without one is exclusive. */
export async function hasKinds(reader: Reader, dialect: Dialect): Promise<boolean> {
  const column = await reader.get(
    dialect === 'sqlite'
      ? "select 1 as found from pragma_table_info('schema_migration') where name = 'kind'"
      : "select 1 as found from pg_attribute where attrelid = to_regclass('schema_migration') and attname = 'kind'",
  )
  return column !== undefined
}

/** The newest step that the program neither knows nor can work with. */
export function findUnknown(applied: AppliedSteps, migrations: readonly Migration[]): number | undefined {
  const known = newestOf(migrations)
  const unknown = [...applied].filter(([version, kind]) => version > known && kind !== 'expand')
  return unknown.length === 0 ? undefined : Math.max(...unknown.map(([version]) => version))
}

/** Throws NewerSchemaError if a newer program applied a step after which this one cannot work. */
export function refuseUnknown(applied: AppliedSteps, migrations: readonly Migration[]): void {
  const unknown = findUnknown(applied, migrations)
  if (unknown !== undefined) throw new NewerSchemaError(unknown, newestOf(migrations))
}

/** The version of the newest step. */
export function newestOf(migrations: readonly Migration[]): number {
  return Math.max(0, ...migrations.map(({ version }) => version))
}

/** The version of the newest step that the program needs. */
export function neededOf(migrations: readonly Migration[]): number {
  return newestOf(migrations.filter((migration) => kindOf(migration) !== 'contract'))
}
