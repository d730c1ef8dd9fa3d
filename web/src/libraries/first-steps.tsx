import { Suspense } from 'react'
import { Onboarding } from '../onboarding/index.ts'
import { pickFiles, scanOf } from '../uploads/index.ts'
import { useFirstUpload } from './use-first-upload.ts'

/** The introduction of a new account. Loaded after the page, because most users have dismissed it. */
export function FirstSteps() {
  const { start } = useFirstUpload()
  return (
    <Suspense>
      <Onboarding onUpload={() => void pickFiles().then((files) => start(scanOf(files, [])))} />
    </Suspense>
  )
}
