import { Globe, LibraryBig, Plus, Upload, Users } from 'lucide-react'
import { useTexts } from '../texts/index.ts'
import { Button, ButtonLink, Empty } from '../ui/index.ts'
import { pickFiles, scanOf } from '../uploads/index.ts'
import type { LibraryTab } from './library-tabs.ts'
import { useFirstUpload } from './use-first-upload.ts'

/** Shown instead of an empty list. */
export function EmptyList(props: { tab: LibraryTab; onMake: () => void }) {
  const texts = useTexts('libraries')
  if (props.tab === 'mine') return <NoneOfMine onMake={props.onMake} />
  if (props.tab === 'shared') {
    return <Empty icon={Users} title={texts.emptyShared} hint={texts.emptySharedHint} />
  }
  if (props.tab === 'group') {
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
        <Button
          icon={Upload}
          busy={busy}
          onClick={() => void pickFiles().then((files) => start(scanOf(files, [])))}
        >
          {texts.uploadFiles}
        </Button>
      </div>
    </Empty>
  )
}
