import { serveSideProcess } from '../database/index.ts'
import { type CountWish, count } from './count.ts'

// In a process of its own nobody is held up.
const noRests = { isDue: false, rest: async () => {} }

serveSideProcess((reader, wish: CountWish) => count(reader, wish, noRests))
