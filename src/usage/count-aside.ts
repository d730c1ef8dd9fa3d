import type { Reader } from '../database/database.ts'
import { type Counted, type CountWish, count } from './count.ts'

/** A job for Database.aside: in a process of its own nobody is held up. */
export function run(reader: Reader, wish: CountWish): Promise<Counted> {
  return count(reader, wish, { isDue: false, rest: async () => {} })
}
