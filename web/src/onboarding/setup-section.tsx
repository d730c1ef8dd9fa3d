import { SetupChecklist } from './setup-checklist.tsx'

/** The checklist as a page of the administration, where it is not dismissed. */
export default function SetupSection() {
  return <SetupChecklist />
}
