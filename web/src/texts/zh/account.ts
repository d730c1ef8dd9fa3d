import type { Texts } from '../en/index.ts'

export const account: Texts['account'] = {}
