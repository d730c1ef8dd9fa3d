import { Globe, LibraryBig, Plus, Upload, Users } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { folderAddress } from '../addresses.ts'
import { defaultLibrary, fetchLibrary } from '../api/libraries.ts'
import { useTexts } from '../texts/texts.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Empty } from '../ui/states.tsx'
import { useFailureToast } from '../ui/toasts.tsx'
import { pickFiles } from '../uploads/picking.ts'
import { addUploads } from '../uploads/uploads.ts'
import type { Way } from './ways.ts'

/** In the place of a list nobody has put anything in yet. */
export function NothingHere(props: { way: Way; onMake: () => void }) {
  const texts = useTexts('libraries')
  if (props.way === 'mine') return <NoneOfMine onMake={props.onMake} />
  if (props.way === 'shared') {
    return <Empty icon={Users} title={texts.emptyShared} hint={texts.emptySharedHint} />
  }
  if (props.way === 'group') {
    return (
      <Empty icon={Users} title={texts.emptyGroups} hint={texts.emptyGroupsHint}>
        <ButtonLink to="/groups">{texts.toGroups}</ButtonLink>
      </Empty>
    )
  }
  return <Empty icon={Globe} title={texts.emptyEveryone} hint={texts.emptyEveryoneHint} />
}

function NoneOfMine(props: { onMake: () => void }) {
  const texts = useTexts('libraries')
  const { busy, start } = useFirstUpload()
  return (
    <Empty icon={LibraryBig} title={texts.emptyMine} hint={texts.emptyMineHint}>
      <div className="libraries-first">
        <Button variant="primary" icon={Plus} onClick={props.onMake}>
          {texts.newLibrary}
        </Button>
        <Button icon={Upload} busy={busy} onClick={() => void start()}>
          {texts.uploadFiles}
        </Button>
      </div>
    </Empty>
  )
}

/** Files first: whoever has no library yet gets one to put them in. */
function useFirstUpload() {
  const failed = useFailureToast()
  const [, go] = useLocation()
  const [busy, setBusy] = useState(false)
  async function start(): Promise<void> {
    const files = await pickFiles()
    if (files.length === 0) return
    setBusy(true)
    try {
      const { repo_id: libraryId } = await defaultLibrary()
      const { repo_name: libraryName } = await fetchLibrary(libraryId)
      addUploads({ libraryId, libraryName, path: '/' }, files)
      go(folderAddress(libraryId))
    } catch (error) {
      failed(error)
      setBusy(false)
    }
  }
  return { busy, start }
}
