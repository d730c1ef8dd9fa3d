export default function FolderPage() {
  return <div className="page" />
}
