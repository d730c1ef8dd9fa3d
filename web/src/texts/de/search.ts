import type { Texts } from '../en/index.ts'

export const search: Texts['search'] = {}
