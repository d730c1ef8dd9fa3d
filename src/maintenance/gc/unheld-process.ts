import { serveSideProcess } from '../../platform/database/index.ts'
import { listUnheld } from './unheld.ts'

serveSideProcess(listUnheld)
