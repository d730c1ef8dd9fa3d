import { LogOut } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { leaveLibrary, type SharedFile } from '../api/index.ts'
import { fileUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { ConfirmDialog, FileIcon, IconButton, useAction } from '../ui/index.ts'

/** Single files that others share with the user. */
export function SharedFiles(props: { files: readonly SharedFile[] }) {
  const texts = useTexts('libraries')
  return (
    <section className="libraries-section">
      <h2>{texts.sharedFiles}</h2>
      <ul className="libraries-files card">
        {props.files.map((file) => (
          <Row key={`${file.repo_id} ${file.share_type}`} file={file} />
        ))}
      </ul>
    </section>
  )
}

function Row(props: { file: SharedFile }) {
  const { file } = props
  const texts = useTexts('libraries')
  const sharing = useTexts('sharing')
  const formats = useFormats()
  const act = useAction('libraries')
  const [leaving, setLeaving] = useState(false)
  return (
    <li>
      <FileIcon name={file.file_name} />
      <span className="libraries-file">
        <Link to={fileUrl(file.repo_id, file.path)} title={file.file_name}>
          <bdi>{file.file_name}</bdi>
        </Link>
        <span className="muted">
          <bdi>{file.owner_name}</bdi> · {formats.ago(file.last_modified)}
        </span>
      </span>
      <span className="badge">{sharing.permissions[file.permission]}</span>
      {/* A share with a group is left with the group. */}
      {file.share_type === 'personal' && (
        <IconButton
          label={`${texts.leave}: ${file.file_name}`}
          icon={LogOut}
          onClick={() => setLeaving(true)}
        />
      )}
      {leaving && (
        <ConfirmDialog
          title={`${texts.leave}: ${file.file_name}`}
          text={texts.leaveText}
          submit={texts.leave}
          onConfirm={() => act(() => leaveLibrary(file.repo_id))}
          onClose={() => setLeaving(false)}
        />
      )}
    </li>
  )
}
