"""What agents hand over: header, schemas, versions, the files in the folder, finding them again."""
