export default function LibrariesPage() {
  return <div className="page" />
}
