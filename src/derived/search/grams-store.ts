import { LIBRARY_MARK } from './expression.ts'
import { libraryKeySql } from './keys.ts'
import { raw, type Sql, sql } from './sql.ts'
import { CHARACTERS_PER_GRAM, END, escapedMarks, START } from './tokens.ts'

// On PostgreSQL the grams of a name are in the index only. Stored in the row, with their positions, they took two thirds of it. Without positions the
// index finds the names that have all grams of a part; whether they contain the part is checked afterwards.

/** As SQL: the grams of an entry `f` and the token of its library. */
const gramsSql = (entry: string) => `array_to_tsvector(search_grams(${entry}folded, ${entry}key))`

/** The condition of an entry `f` to have grams. */
export const hasGrams = (tsquery: string): Sql => sql`${raw(gramsSql('f.'))} @@ ${tsquery}::tsquery`

/** The condition of an entry `f` to have a name that contains a part, given with its markers. */
export const containsPart = (part: string): Sql =>
  sql`strpos(${raw(`'${START}' || f.folded || '${END}'`)}, ${part}) > 0`

/**
 * Creates the index of names and its function, which makes the same grams as gramsOf. A function of SQL with a subquery would take four times as long. The list of
 * entries that are not merged yet is limited to an eighth of the default, because a merge is done by whoever fills it.
 */
export function gramIndexStatements(): string[] {
  const marks = escapedMarks()
  const from = marks.map(([mark]) => `\\x${mark.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')
  const to = marks.map(([, blank]) => blank).join('')
  return [
    `create or replace function search_grams(folded text, key bigint) returns text[]
      language plpgsql immutable strict parallel safe as $function$
      declare
        marked text := '${START}' || translate(folded, E'${from}', '${to}') || '${END}';
        grams text[] := '{}';
      begin
        for at in 1 .. length(marked) loop
          grams := grams || substr(marked, at, ${CHARACTERS_PER_GRAM});
        end loop;
        return grams || ('${LIBRARY_MARK}' || ${libraryKeySql('key')});
      end $function$`,
    `create index if not exists search_entry_by_part on search_entry using gin ((${gramsSql('')}))
      with (gin_pending_list_limit = 512)`,
  ]
}

/** Fills the column of nodes of earlier versions, which have the grams in the row, until a step of the schema removes both. */
export const olderGramsStatements = [
  'alter table search_entry alter column grams drop not null',
  `create or replace function search_entry_grams() returns trigger language plpgsql as $function$
    begin
      new.grams := (select string_agg('''' || gram || ''':' || at, ' ')
        from unnest(search_grams(new.folded, new.key)) with ordinality as made (gram, at))::tsvector;
      return new;
    end $function$`,
  'drop trigger if exists search_entry_grams on search_entry',
  `create trigger search_entry_grams before insert or update of folded on search_entry
    for each row execute function search_entry_grams()`,
]
