/** Buckets of a test: made, and a destination opened in them. */
import { S3Client, CreateBucketCommand, type CreateBucketCommandInput } from '@aws-sdk/client-s3';
import type { S3Server } from '../servers/s3-server.ts';

export function s3Client({ accessKeyId, endpoint, secretAccessKey }: S3Server): S3Client {
  return new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
}

export async function makeBucket(
  server: S3Server,
  bucket: string,
  options: Partial<CreateBucketCommandInput> = {},
): Promise<void> {
  const client = s3Client(server);
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket, ...options }));
  } finally {
    client.destroy();
  }
}
