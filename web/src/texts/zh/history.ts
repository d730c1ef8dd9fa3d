import type { Texts } from '../en/index.ts'

export const history: Texts['history'] = {}
