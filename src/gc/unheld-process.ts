import { serveSideProcess } from '../database/index.ts'
import { listUnheld } from './unheld.ts'

serveSideProcess(listUnheld)
