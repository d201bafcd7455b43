import { debianRoot, type DebianRoot } from './debian-root.ts';

/** The S3 servers of Debian: Ceph's gateway with what it needs, and moto. */
export async function s3Root(): Promise<DebianRoot> {
  return await debianRoot('s3', [
    'radosgw',
    'ceph-mon',
    'ceph-osd',
    'ceph-common',
    'python3-moto',
    'python3-flask',
    'python3-flask-cors',
    'python3-openapi-spec-validator',
    'python3-xmltodict',
    'python3-boto3',
  ]);
}
