import { Book, EllipsisVertical, Globe, Settings2, Share2, Users, UserX } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { endSharedOut, permissionOf, type SharedOut, useLibraries, useSharedOut } from '../api/index.ts'
import { fileUrl, folderUrl } from '../navigation/index.ts'
import { normalizePath } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  Avatar,
  Button,
  Empty,
  FileIcon,
  FormDialog,
  IconButton,
  LoadError,
  Menu,
  SelectField,
  useAction,
  Waiting,
} from '../ui/index.ts'
import { ShareDialog, type Shared } from './share-dialog.tsx'

/** Libraries, folders and files that the user shares, one row per share. */
export function SharedByMe() {
  const texts = useTexts('sharing')
  const out = useSharedOut()
  const [choosing, setChoosing] = useState(false)
  const [sharing, setSharing] = useState<Shared>()
  if (out.isPending) return <Waiting />
  if (out.isError) return <LoadError error={out.error} onRetry={() => void out.refetch()} />
  const places = byPlace(out.data)
  return (
    <>
      {places.length === 0 ? (
        <Empty icon={Share2} title={texts.nothingShared} hint={texts.nothingSharedHint}>
          <Button variant="primary" onClick={() => setChoosing(true)}>
            {texts.shareLibrary}
          </Button>
        </Empty>
      ) : (
        <div className="sharing-tools sharing-tools-end">
          <Button icon={Share2} onClick={() => setChoosing(true)}>
            {texts.shareLibrary}
          </Button>
        </div>
      )}
      <ul className="sharing-cards">
        {places.map((shares) => (
          <SharedPlaceCard
            key={`${shares[0].repo_id}${shares[0].path ?? ''}`}
            shares={shares}
            onShare={setSharing}
          />
        ))}
      </ul>
      {choosing && <ChooseLibrary onChoose={setSharing} onClose={() => setChoosing(false)} />}
      {sharing && <ShareDialog {...sharing} onClose={() => setSharing(undefined)} />}
    </>
  )
}

type Shares = readonly [SharedOut, ...SharedOut[]]

function byPlace(shares: readonly SharedOut[]): Shares[] {
  const places = new Map<string, [SharedOut, ...SharedOut[]]>()
  for (const share of shares) {
    const key = `${share.repo_id}\n${share.path ?? ''}`
    const there = places.get(key)
    if (there === undefined) places.set(key, [share])
    else there.push(share)
  }
  return [...places.values()]
}

function SharedPlaceCard(props: { shares: Shares; onShare: (shared: Shared) => void }) {
  const texts = useTexts('sharing')
  const [first] = props.shares
  const path = normalizePath(first.path ?? '/')
  const isDir = first.file_name === undefined
  const name = first.file_name ?? first.folder_name ?? first.repo_name
  const settings = () => props.onShare({ libraryId: first.repo_id, path, name, isDir })
  return (
    <li className="sharing-card">
      <div className="sharing-target">
        {path === '/' ? (
          <Book className="file-icon" size={22} strokeWidth={1.6} aria-hidden />
        ) : (
          <FileIcon name={name} isDir={isDir} />
        )}
        <span className="sharing-names">
          <Link to={(isDir ? folderUrl : fileUrl)(first.repo_id, path)} title={name}>
            <bdi>{name}</bdi>
          </Link>
          <bdi className="muted">
            {first.path === undefined ? texts.wholeLibrary : `${first.repo_name}${path}`}
          </bdi>
        </span>
        <Button icon={Settings2} onClick={settings}>
          {texts.manage}
        </Button>
      </div>
      <ul className="sharing-rows">
        {props.shares.map((share) => (
          <SharedRow key={`${share.user_email ?? ''} ${share.group_id ?? ''}`} share={share} />
        ))}
      </ul>
    </li>
  )
}

function SharedRow(props: { share: SharedOut }) {
  const { share } = props
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const formats = useFormats()
  const act = useAction('shares', 'libraries')
  const name = share.group_name ?? share.user_name ?? texts.everyone
  const Sign = share.share_type === 'group' ? Users : Globe
  return (
    <li className="sharing-row">
      {share.share_type === 'personal' ? (
        <Avatar email={share.user_email ?? ''} name={share.user_name} size={28} />
      ) : (
        <span className="sharing-sign">
          <Sign size={16} aria-hidden />
        </span>
      )}
      <span className="sharing-names">
        <bdi title={name}>{name}</bdi>
        {share.expire_date !== undefined && (
          <span className="muted">
            {share.is_expired ? texts.hasEnded : texts.endsAt(formats.date(share.expire_date))}
          </span>
        )}
      </span>
      <span className="badge">
        {texts.permissions[permissionOf({ permission: share.share_permission, is_admin: share.is_admin })]}
      </span>
      <Menu
        trigger={<IconButton label={`${common.more}: ${name}`} icon={EllipsisVertical} />}
        entries={[
          {
            label: texts.endShare,
            icon: UserX,
            danger: true,
            onSelect: () => void act(() => endSharedOut(share), texts.shareEnded),
          },
        ]}
      />
    </li>
  )
}

function ChooseLibrary(props: { onChoose: (shared: Shared) => void; onClose: () => void }) {
  const texts = useTexts('sharing')
  const { data } = useLibraries()
  const own = (data ?? []).filter(({ type }) => type === 'mine')
  const [id, setId] = useState('')
  const chosen = own.find(({ repo_id }) => repo_id === id)
  return (
    <FormDialog
      title={texts.shareLibrary}
      submit={texts.next}
      disabled={chosen === undefined}
      onSubmit={async () => {
        if (chosen) props.onChoose({ libraryId: id, path: '/', name: chosen.repo_name, isDir: true })
      }}
      onClose={props.onClose}
    >
      <SelectField label={texts.library} value={id} onChange={(event) => setId(event.target.value)}>
        <option value="">{own.length === 0 ? texts.noOwnLibraries : texts.chooseLibrary}</option>
        {own.map(({ repo_id, repo_name }) => (
          <option key={repo_id} value={repo_id}>
            {repo_name}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  )
}
